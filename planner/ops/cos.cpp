#include "planner/ops_support/gradient.h"
#include "planner/ops_support/pointwise.h"

namespace shard {

namespace {

std::vector<ValueId> gradient(const GradientContext& context) {
    return pointwise_gradient(context, {[](Chain& chain, const GradientContext& at) {
                                  return chain("neg", {chain("mul", {at.cotangent, chain("sin", {at.inputs[0]})})});
                              }});
}

} // namespace

const OpDef& op_cos() {
    static const OpDef def = pointwise_op<ScalarOp::cos, PointwiseTypes::floating>(
        "cos", "The cosine of x, in radians.\n{cos: x}", gradient);
    return def;
}

} // namespace shard
