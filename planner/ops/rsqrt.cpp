#include "planner/ops_support/gradient.h"
#include "planner/ops_support/pointwise.h"

namespace shard {

namespace {

// -1/2 x^(-3/2), from the result alone.
std::vector<ValueId> gradient(const GradientContext& context) {
    return pointwise_gradient(context, {[](Chain& chain, const GradientContext& at) {
                                  const ValueId cube = chain("mul", {chain("mul", {at.output, at.output}), at.output});
                                  return chain("mul", {at.cotangent, chain("mul", cube, -0.5)});
                              }});
}

} // namespace

const OpDef& op_rsqrt() {
    static const OpDef def =
        pointwise_op<ScalarOp::rsqrt, PointwiseTypes::floating>("rsqrt", "1 / sqrt(x).\n{rsqrt: x}", gradient);
    return def;
}

} // namespace shard
