#include "planner/ops_support/gradient.h"
#include "planner/ops_support/pointwise.h"

namespace shard {

namespace {

ValueId squared_length(Chain& chain, const GradientContext& at) {
    return chain("add", {chain("mul", {at.inputs[0], at.inputs[0]}), chain("mul", {at.inputs[1], at.inputs[1]})});
}

std::vector<ValueId> gradient(const GradientContext& context) {
    const GradientFormula left = [](Chain& chain, const GradientContext& at) {
        return chain("mul", {at.cotangent, chain("div", {at.inputs[1], squared_length(chain, at)})});
    };
    const GradientFormula right = [](Chain& chain, const GradientContext& at) {
        return chain("neg", {chain("mul", {at.cotangent, chain("div", {at.inputs[0], squared_length(chain, at)})})});
    };
    return pointwise_gradient(context, {left, right});
}

} // namespace

const OpDef& op_atan2() {
    static const OpDef def = pointwise_op<ScalarOp::atan2, PointwiseTypes::floating>(
        "atan2", "The angle, in radians, of the point whose coordinates are x and y.\n{atan2: [y, x]}", gradient);
    return def;
}

} // namespace shard
