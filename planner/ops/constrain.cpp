#include "planner/model/rules.h"
#include "planner/ops_support/infer.h"
#include "planner/ops_support/move.h"
#include "planner/ops_support/pointwise.h"

namespace shard {

namespace {

InferResult infer(const InferContext& context) {
    const bool by_axes = context.attributes.has("axes"), by_mesh = context.attributes.has("mesh");
    if (by_axes == by_mesh) {
        context.diagnostics
            .error("E0226", context.span,
                   by_axes ? "'constrain' has both `axes` and `mesh`" : "'constrain' needs `axes` or `mesh`")
            .help(
                "write logical axes, {constrain: x, axes: [batch, ~]}, or mesh axes, {constrain: x, mesh: [data, ~]}");
        return std::nullopt;
    }
    TensorType type = context.operands[0];
    if (by_axes) {
        const std::vector<std::string>& axes = context.attributes.strings("axes");
        for (size_t d = 0; d < axes.size(); ++d)
            if (!axes[d].empty() && !is_unconstrained(axes[d])) type.logical[d] = axes[d];
    }
    return InferResult{{type}};
}

Kernel lower(const LowerContext& context) { return copy_kernel(context.local_results[0]); }

// What the layout asks of a value it does not ask of its cotangent.
std::vector<ValueId> gradient(const GradientContext& context) { return {context.cotangent}; }

} // namespace

const OpDef& op_constrain() {
    static const OpDef def = [] {
        OpDef made;
        made.name = "constrain";
        made.doc =
            "The same value, with a sharding asked for: by logical axes and the layout's rules, or by mesh axes.\n"
            "{constrain: h, axes: [batch, hidden]}";
        made.operands = {1, 1};
        made.attributes = {{"axes", AttributeDef::Type::axes, false, "logical axis names or ~, one a dim"},
                           {"mesh", AttributeDef::Type::sharding, false, "mesh axes, one entry a dim"}};
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
