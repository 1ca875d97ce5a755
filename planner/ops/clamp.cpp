#include "planner/ops_support/gradient.h"
#include "planner/ops_support/infer.h"
#include "planner/ops_support/pointwise.h"

#include <fmt/format.h>

namespace shard {

namespace {

InferResult infer(const InferContext& context) {
    if (!check_dtype(context, 0, is_numeric, "numbers")) return std::nullopt;
    const bool has_min = context.attributes.has("min"), has_max = context.attributes.has("max");
    if (!has_min && !has_max) {
        context.diagnostics.error("E0225", context.span, "'clamp' needs `min` or `max`")
            .help("for example {clamp: x, min: 0, max: 6}");
        return std::nullopt;
    }
    for (std::string_view bound : {"min", "max"})
        if (context.attributes.has(bound) &&
            !check_fits(context, context.attributes.number(bound), context.operands[0].dtype))
            return std::nullopt;
    if (has_min && has_max && context.attributes.number("min") > context.attributes.number("max")) {
        context.diagnostics.error("E0226", context.span,
                                  fmt::format("'clamp' has min {} above max {}", context.attributes.number("min"),
                                              context.attributes.number("max")));
        return std::nullopt;
    }
    return InferResult{{make_type(context.operands[0].dtype, context.operands[0].shape)}};
}

Kernel lower(const LowerContext& context) {
    const DType dtype = context.local_operands[0].dtype;
    Pointwise kernel;
    kernel.input_dims = aligned_input_dims(context.local_operands, context.local_results[0].rank());
    const auto add = [&kernel, dtype](ScalarOp op, std::array<int, 3> args, double value) {
        ScalarStep step;
        step.op = op;
        step.args = args;
        step.dtype = dtype;
        step.value = value;
        kernel.steps.push_back(step);
        return static_cast<int>(kernel.steps.size()) - 1;
    };
    int last = add(ScalarOp::input, {0, -1, -1}, 0);
    for (const auto& [key, op] : {std::pair("min", ScalarOp::max), std::pair("max", ScalarOp::min)}) {
        if (!context.attributes.has(key)) continue;
        const int bound = add(ScalarOp::constant, {-1, -1, -1}, context.attributes.number(key));
        last = add(op, {last, bound, -1}, 0);
    }
    return kernel;
}

// Nothing at the bounds themselves, as in JAX.
std::vector<ValueId> gradient(const GradientContext& context) {
    Chain chain(context.builder);
    const ValueId x = context.inputs[0], zero = context.builder.scalar(0, chain.type(x).dtype);
    ValueId result = context.cotangent;
    if (context.attributes.has("min"))
        result = chain("select", {chain("gt", x, context.attributes.number("min")), result, zero});
    if (context.attributes.has("max"))
        result = chain("select", {chain("lt", x, context.attributes.number("max")), result, zero});
    return {result};
}

} // namespace

const OpDef& op_clamp() {
    static const OpDef def = [] {
        OpDef made;
        made.name = "clamp";
        made.doc = "x, but not below `min` nor above `max`.\n{clamp: x, min: 0, max: 6}";
        made.operands = {1, 1};
        made.attributes = {{"min", AttributeDef::Type::element, false, "the lower bound"},
                           {"max", AttributeDef::Type::element, false, "the upper bound"}};
        made.infer = infer;
        made.rule = rule_pointwise;
        made.lower = lower;
        made.gradient = gradient;
        made.op_class = OpDef::Class::pointwise;
        return made;
    }();
    return def;
}

} // namespace shard
