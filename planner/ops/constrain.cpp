#include "planner/graph/builder.h"
#include "planner/model/rules.h"
#include "planner/ops_support/infer.h"
#include "planner/ops_support/move.h"
#include "planner/ops_support/pointwise.h"
#include "plans/sharding/type.h"

#include <fmt/format.h>

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
    if (context.attributes.string("gradient", "free") != "free") {
        context.diagnostics
            .error("E0226", context.span,
                   fmt::format("`gradient` of 'constrain' is free, and {} is given",
                               context.attributes.string("gradient")))
            .help("leave it away to ask for the same sharding of the gradient");
        return std::nullopt;
    }
    TensorType type = context.operands[0];
    if (by_axes) {
        const std::vector<std::string>& axes = context.attributes.strings("axes");
        if (axes.size() != type.shape.size()) {
            context.diagnostics.error(
                "E0226", context.span,
                fmt::format("{} axes are given for {} dims, {}", axes.size(), type.rank(), shape_text(type.shape)));
            return std::nullopt;
        }
        for (size_t d = 0; d < axes.size(); ++d)
            if (!axes[d].empty() && !is_unconstrained(axes[d])) type.logical[d] = axes[d];
    }
    return InferResult{{type}};
}

Kernel lower(const LowerContext& context) { return copy_kernel(context.local_results[0]); }

// The cotangent is asked for as the value is, as in the transpose of jax.lax.with_sharding_constraint.
std::vector<ValueId> gradient(const GradientContext& context) {
    if (context.attributes.has("gradient")) return {context.cotangent};
    Graph& graph = context.builder.graph();
    const Asked asked = graph.node(graph.value(context.output).producer).asked(); // a copy: the graph grows
    const std::optional<ValueId> made = context.builder.emit("constrain", {context.cotangent}, context.attributes);
    internal_check(made.has_value(), "a constraint of a cotangent was refused");
    graph.nodes[graph.value(*made).producer].apply().asked = asked;
    return {*made};
}

} // namespace

const OpDef& op_constrain() {
    static const OpDef def = [] {
        OpDef made;
        made.name = "constrain";
        made.doc = "The same value, with a sharding asked for, of its gradient too: by logical axes and the layout's "
                   "rules, or by mesh axes.\n"
                   "{constrain: h, axes: [batch, hidden]}";
        made.operands = {1, 1};
        made.attributes = {
            {"axes", AttributeDef::Type::axes, false, "logical axis names or ~, one a dim"},
            {"mesh", AttributeDef::Type::sharding, false, "mesh axes, one entry a dim"},
            {"gradient", AttributeDef::Type::string, false, "free: the gradient may be sharded otherwise"}};
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
