// The scatters: scatter_add, scatter_max, scatter_min. Updates are combined in the places of a new value that indices
// name: [indices, updates], or [operand, indices, updates], which combines the operand with the first form.
#pragma once

#include "planner/graph/chain.h"

namespace shard {

// What scatter_op makes an op of: all that is the same for every way to combine, its rule, its kernel, and the form
// with an operand written as one without and the combining op.
OpDef scatter_op_def(std::string_view name, std::string_view doc);
IndexRule rule_scatter(ReduceOp op, std::span<const TensorType> operands, std::span<const TensorType> results,
                       const Attributes& attributes);
Kernel lower_scatter(ReduceOp op, const LowerContext& context);
std::optional<ValueId> expand_scatter(ReduceOp op, Builder& builder, std::span<const ValueId> operands,
                                      const Attributes& attributes);
// What the indices find in a value of the result's shape.
ValueId found_in(Chain& chain, const GradientContext& context, ValueId table);
// Of scatter_max and scatter_min: equal shares for the updates that are equal to the result, as in JAX.
std::vector<ValueId> scatter_extremum_gradient(const GradientContext& context);

template<ReduceOp op>
OpDef scatter_op(std::string_view name, std::string_view doc,
                 std::vector<ValueId> (*gradient)(const GradientContext&)) {
    OpDef def = scatter_op_def(name, doc);
    def.rule = [](std::span<const TensorType> operands, std::span<const TensorType> results,
                  const Attributes& attributes) { return rule_scatter(op, operands, results, attributes); };
    def.lower = [](const LowerContext& context) { return lower_scatter(op, context); };
    def.expand = [](Builder& builder, std::span<const ValueId> operands, const Attributes& attributes) {
        return expand_scatter(op, builder, operands, attributes);
    };
    def.gradient = gradient;
    if (op == ReduceOp::sum) def.linear_in = {1};
    return def;
}

} // namespace shard
