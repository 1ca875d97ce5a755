#include "planner/ops_support/gradient.h"
#include "planner/ops_support/pointwise.h"

namespace shard {

namespace {

// Truncation is not linear, so whole numbers have an op of their own: a partial sum may pass through `div` and not
// through it.
bool splits(std::span<const TensorType> operands, const Attributes&) {
    return operands.size() == 2 && is_integer(operands[0].dtype) && is_integer(operands[1].dtype);
}

std::optional<ValueId> expand(Builder& builder, std::span<const ValueId> operands, const Attributes&) {
    return builder.emit("trunc_div", {operands[0], operands[1]});
}

std::vector<ValueId> gradient(const GradientContext& context) {
    const GradientFormula left = [](Chain& chain, const GradientContext& at) {
        return chain("div", {at.cotangent, at.inputs[1]});
    };
    const GradientFormula right = [](Chain& chain, const GradientContext& at) {
        return chain("neg", {chain("mul", {chain("div", {at.cotangent, at.inputs[1]}), at.output})});
    };
    return pointwise_gradient(context, {left, right});
}

} // namespace

const OpDef& op_div() {
    static const OpDef def = [] {
        OpDef made = pointwise_op<ScalarOp::div, PointwiseTypes::numeric>(
            "div", "x / y, with numpy broadcasting; whole numbers truncate towards zero.\n{div: [x, y]}", gradient);
        made.linear_in = {0};
        made.splits = splits;
        made.expand = expand;
        return made;
    }();
    return def;
}

} // namespace shard
