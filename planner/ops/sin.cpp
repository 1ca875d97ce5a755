#include "planner/ops_support/gradient.h"
#include "planner/ops_support/pointwise.h"

namespace shard {

namespace {

std::vector<ValueId> gradient(const GradientContext& context) {
    return pointwise_gradient(context, {[](Chain& chain, const GradientContext& at) {
                                  return chain("mul", {at.cotangent, chain("cos", {at.inputs[0]})});
                              }});
}

} // namespace

const OpDef& op_sin() {
    static const OpDef def =
        pointwise_op<ScalarOp::sin, PointwiseTypes::floating>("sin", "The sine of x, in radians.\n{sin: x}", gradient);
    return def;
}

} // namespace shard
