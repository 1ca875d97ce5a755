// The reductions: reduce_sum, reduce_max, reduce_min, reduce_prod. A file of planner/ops/ is then a line and a
// gradient:
//
//     const OpDef& op_reduce_sum() {
//         static const OpDef def = reduce_op<ReduceOp::sum>("reduce_sum", "The sum over dims ...", gradient);
//         return def;
//     }
#pragma once

#include "planner/graph/op_def.h"

namespace shard {

// The operand without the dims of the attribute `dims` (all, if there is none); with `keepdims` they stay, of size 1.
std::optional<std::vector<TensorType>> infer_reduce(const InferContext& context);
// Reduced dims are reductions by `op`: a result over split ones is partial. The others pass through.
IndexRule rule_reduce(ReduceOp op, std::span<const TensorType> operands, const Attributes& attributes);
Kernel lower_reduce(ReduceOp op, const LowerContext& context);
// `dims` are written out, so that every later pass sees the same attributes.
void complete_reduce(std::span<const TensorType> operands, std::span<const TensorType> results, Attributes& attributes);
// With `keepdims` the reduction is followed by a reshape.
bool reduce_keeps_dims(std::span<const TensorType> operands, const Attributes& attributes);
std::optional<ValueId> expand_reduce(ReduceOp op, Builder& builder, std::span<const ValueId> operands,
                                     const Attributes& attributes);
// `dims`, in its three spellings and with this doc, and `keepdims`: of whatever goes over dims.
std::vector<AttributeDef> reduce_attributes(std::string_view dims_doc);
// What does not depend on the reduction.
OpDef reduce_op_def(std::string_view name, std::string_view doc);

// OpDef holds plain functions: the three above, for one reduction.
template<ReduceOp op>
IndexRule rule_reduce_of(std::span<const TensorType> operands, std::span<const TensorType>,
                         const Attributes& attributes) {
    return rule_reduce(op, operands, attributes);
}
template<ReduceOp op>
Kernel lower_reduce_of(const LowerContext& context) {
    return lower_reduce(op, context);
}
template<ReduceOp op>
std::optional<ValueId> expand_reduce_of(Builder& builder, std::span<const ValueId> operands,
                                        const Attributes& attributes) {
    return expand_reduce(op, builder, operands, attributes);
}

template<ReduceOp op>
OpDef reduce_op(std::string_view name, std::string_view doc,
                std::vector<ValueId> (*gradient)(const GradientContext&) = nullptr) {
    OpDef def = reduce_op_def(name, doc);
    def.rule = rule_reduce_of<op>;
    def.lower = lower_reduce_of<op>;
    def.expand = expand_reduce_of<op>;
    def.gradient = gradient;
    def.reduces = op;
    if (op == ReduceOp::sum) def.linear_in = {0};
    return def;
}

} // namespace shard
