#include "planner/ops_support/gradient.h"
#include "planner/ops_support/pointwise.h"

namespace shard {

namespace {

std::vector<ValueId> gradient(const GradientContext& context) {
    const GradientFormula left = [](Chain&, const GradientContext& at) { return at.cotangent; };
    // x = trunc(x / y) y + rem
    const GradientFormula right = [](Chain& chain, const GradientContext& at) {
        const ValueId ratio = chain("div", {at.inputs[0], at.inputs[1]});
        const ValueId whole = chain("mul", {chain("sign", {ratio}), chain("floor", {chain("abs", {ratio})})});
        return chain("neg", {chain("mul", {at.cotangent, whole})});
    };
    return pointwise_gradient(context, {left, right});
}

} // namespace

const OpDef& op_rem() {
    static const OpDef def = pointwise_op<ScalarOp::rem, PointwiseTypes::numeric>(
        "rem", "The remainder of x / y, with the sign of x.\n{rem: [x, y]}", gradient);
    return def;
}

} // namespace shard
