#include "planner/ops_support/gradient.h"
#include "planner/ops_support/pointwise.h"

namespace shard {

namespace {

std::vector<ValueId> gradient(const GradientContext& context) {
    return pointwise_gradient(context, {[](Chain& chain, const GradientContext& at) {
                                  return chain("div", {chain("mul", at.cotangent, 0.5), at.output});
                              }});
}

} // namespace

const OpDef& op_sqrt() {
    static const OpDef def =
        pointwise_op<ScalarOp::sqrt, PointwiseTypes::floating>("sqrt", "The square root of x.\n{sqrt: x}", gradient);
    return def;
}

} // namespace shard
