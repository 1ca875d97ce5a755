#include "planner/ops_support/gradient.h"
#include "planner/ops_support/infer.h"
#include "planner/ops_support/pointwise.h"

namespace shard {

namespace {

InferResult infer(const InferContext& context) {
    if (!check_dtype(context, 0, is_boolean, "a bool as its first operand") || !check_same_dtype(context, 1))
        return std::nullopt;
    const std::optional<Shape> shape = broadcast_shape(context);
    if (!shape) return std::nullopt;
    return InferResult{{make_type(context.operands[1].dtype, *shape)}};
}

std::vector<ValueId> gradient(const GradientContext& context) {
    const GradientFormula left = [](Chain& chain, const GradientContext& at) {
        return chain("select", {at.inputs[0], at.cotangent, at.builder.scalar(0, chain.type(at.output).dtype)});
    };
    const GradientFormula right = [](Chain& chain, const GradientContext& at) {
        return chain("select", {at.inputs[0], at.builder.scalar(0, chain.type(at.output).dtype), at.cotangent});
    };
    return pointwise_gradient(context, {nullptr, left, right});
}

} // namespace

const OpDef& op_select() {
    static const OpDef def = [] {
        OpDef made = pointwise_op<ScalarOp::select, PointwiseTypes::numeric>(
            "select", "x where p is true, else y, with numpy broadcasting.\n{select: [p, x, y]}", gradient);
        made.infer = infer;
        return made;
    }();
    return def;
}

} // namespace shard
