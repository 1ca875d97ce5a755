#include "planner/ops_support/gradient.h"
#include "planner/ops_support/pointwise.h"

namespace shard {

namespace {

std::vector<ValueId> gradient(const GradientContext& context) {
    const GradientFormula left = [](Chain& chain, const GradientContext& at) {
        return chain("mul", {at.cotangent, at.inputs[1]});
    };
    const GradientFormula right = [](Chain& chain, const GradientContext& at) {
        return chain("mul", {at.cotangent, at.inputs[0]});
    };
    std::vector<ValueId> gradients =
        pointwise_gradient(context, {left, context.inputs[0] == context.inputs[1] ? GradientFormula(nullptr) : right});
    if (context.inputs[0] == context.inputs[1]) gradients[1] = gradients[0]; // x * x
    return gradients;
}

} // namespace

const OpDef& op_mul() {
    static const OpDef def = [] {
        OpDef made = pointwise_op<ScalarOp::mul, PointwiseTypes::numeric>(
            "mul", "x * y, with numpy broadcasting.\n{mul: [x, 0.5]}", gradient);
        made.linear_in = {0, 1};
        return made;
    }();
    return def;
}

} // namespace shard
