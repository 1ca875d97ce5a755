// The pointwise family: ops that apply one scalar instruction to every element, with numpy broadcasting. A file of
// planner/ops/ is then one line:
//
//     const OpDef& op_exp() {
//         static const OpDef def =
//             pointwise_op<ScalarOp::exp, PointwiseTypes::floating>("exp", "e to the power of x ...");
//         return def;
//     }
#pragma once

#include "planner/graph/op_def.h"

namespace shard {

enum class PointwiseTypes {
    numeric,    // numbers -> the same type
    integer,    // whole numbers -> the same type
    signed_,    // numbers other than unsigned -> the same type
    floating,   // floating-point -> the same type
    test,       // floating-point -> bool
    boolean,    // bool -> bool
    comparison, // any two of one type -> bool
};

// The broadcast shape and the dtype of the result, as above; E0224 for operands of another type, E0223 for shapes that
// do not broadcast.
std::optional<std::vector<TensorType>> infer_pointwise(PointwiseTypes types, const InferContext& context);
// Every dim of the result is a factor that passes through; an operand has those along which it is not broadcast.
IndexRule rule_pointwise(std::span<const TensorType> operands, std::span<const TensorType> results, const Attributes&);
// The input dims of a pointwise kernel whose operands are aligned with the result at the last dim.
std::vector<std::vector<int>> aligned_input_dims(std::span<const TensorType> operands, int result_rank);
// A kernel of one instruction: inputs -> op(inputs).
Kernel lower_pointwise(ScalarOp op, const LowerContext& context);

// OpDef holds plain functions: the two above, for one op.
template<PointwiseTypes types>
std::optional<std::vector<TensorType>> infer_pointwise_of(const InferContext& context) {
    return infer_pointwise(types, context);
}
template<ScalarOp op>
Kernel lower_pointwise_of(const LowerContext& context) {
    return lower_pointwise(op, context);
}

using Gradient = std::vector<ValueId> (*)(const GradientContext&);

// All of an op of the family but where partial sums may pass through it.
template<ScalarOp op, PointwiseTypes types>
OpDef pointwise_op(std::string_view op_name, std::string_view doc, Gradient gradient = nullptr) {
    OpDef def;
    def.name = op_name;
    def.doc = doc;
    def.operands = {arity(op), arity(op)};
    def.infer = infer_pointwise_of<types>;
    def.rule = rule_pointwise;
    def.lower = lower_pointwise_of<op>;
    def.gradient = gradient;
    def.op_class = OpDef::Class::pointwise;
    return def;
}

} // namespace shard
