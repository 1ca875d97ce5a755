#include "planner/ops_support/gradient.h"
#include "planner/ops_support/pointwise.h"

namespace shard {

namespace {

std::vector<ValueId> gradient(const GradientContext& context) {
    return pointwise_gradient(context, {[](Chain& chain, const GradientContext& at) {
                                  const ValueId squared = chain("mul", {at.output, at.output});
                                  return chain("div", {at.cotangent, chain("mul", squared, 3.0)});
                              }});
}

} // namespace

const OpDef& op_cbrt() {
    static const OpDef def = pointwise_op<ScalarOp::cbrt, PointwiseTypes::floating>(
        "cbrt", "The cube root of x, of negative numbers too.\n{cbrt: x}", gradient);
    return def;
}

} // namespace shard
