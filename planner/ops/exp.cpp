#include "planner/ops_support/gradient.h"
#include "planner/ops_support/pointwise.h"

namespace shard {

namespace {

std::vector<ValueId> gradient(const GradientContext& context) {
    return pointwise_gradient(context, {[](Chain& chain, const GradientContext& at) {
                                  return chain("mul", {at.cotangent, at.output});
                              }});
}

} // namespace

const OpDef& op_exp() {
    static const OpDef def =
        pointwise_op<ScalarOp::exp, PointwiseTypes::floating>("exp", "e to the power of x.\n{exp: x}", gradient);
    return def;
}

} // namespace shard
