#include "planner/ops_support/reshape_rule.h"

#include "planner/ops_support/gradient.h"
#include "planner/ops_support/infer.h"
#include "planner/ops_support/move.h"
#include "plans/base/checked.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

InferResult infer(const InferContext& context) {
    const TensorType& operand = context.operands[0];
    if (!context.attributes.has("shape")) {
        context.diagnostics.error("E0225", context.span, "'reshape' needs the result's `shape` or `axes`");
        return std::nullopt;
    }
    Shape shape = context.attributes.integers("shape");
    const std::ptrdiff_t unknown = std::count(shape.begin(), shape.end(), -1);
    const i64 total = operand.elements();
    std::optional<i64> known = 1; // the sizes given, multiplied
    bool fits = unknown <= 1;
    for (i64 size : shape) {
        if (size == -1) continue;
        known = known ? checked_multiply(*known, size) : std::nullopt;
        fits = fits && size > 0 && known;
    }
    if (fits && unknown == 1 && total % *known == 0) *std::find(shape.begin(), shape.end(), -1) = total / *known;
    if (!fits || std::count(shape.begin(), shape.end(), -1) > 0 || checked_element_count(shape) != total) {
        context.diagnostics
            .error("E0223", context.span,
                   fmt::format("{} cannot be reshaped to {}", operand_text(context, 0), shape_text(shape)))
            .note(unknown > 1 ? std::string("more than one dim is -1")
                              : fmt::format("it has {} elements, the sizes given multiply to {}", total,
                                            known ? std::to_string(*known) : "more than 64 bits can count"));
        return std::nullopt;
    }
    TensorType type = make_type(operand.dtype, shape);
    if (context.attributes.has("axes")) type.logical = context.attributes.strings("axes");
    return InferResult{{type}};
}

void complete(std::span<const TensorType>, std::span<const TensorType> results, Attributes& attributes) {
    attributes.set("shape", results[0].shape);
}

IndexRule rule(std::span<const TensorType> operands, std::span<const TensorType> results, const Attributes&) {
    return reshape_rule(operands[0].shape, results[0].shape);
}

Kernel lower(const LowerContext&) { return flat_kernel(); }

std::vector<ValueId> gradient(const GradientContext& context) {
    Chain chain(context.builder);
    const TensorType type = chain.type(context.inputs[0]);
    return {chain("reshape", {context.cotangent}, shape_of(type.shape, type.logical))};
}

} // namespace

const OpDef& op_reshape() {
    static const OpDef def = [] {
        OpDef made;
        made.name = "reshape";
        made.doc =
            "The same elements in row-major order under another shape.\n{reshape: x, shape: [batch, length, 12, -1]}";
        made.operands = {1, 1};
        made.attributes = {{"shape", AttributeDef::Type::shape, false, "sizes or axis names; one -1 is computed"},
                           {"axes", AttributeDef::Type::axes, false, "axis names, one a dim"}};
        made.infer = infer;
        made.complete = complete;
        made.rule = rule;
        made.lower = lower;
        made.gradient = gradient;
        made.linear_in = {0};
        made.reshapes = true;
        made.op_class = OpDef::Class::reshape_like;
        return made;
    }();
    return def;
}

} // namespace shard
