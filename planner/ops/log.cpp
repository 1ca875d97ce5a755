#include "planner/ops_support/gradient.h"
#include "planner/ops_support/pointwise.h"

namespace shard {

namespace {

std::vector<ValueId> gradient(const GradientContext& context) {
    return pointwise_gradient(context, {[](Chain& chain, const GradientContext& at) {
                                  return chain("div", {at.cotangent, at.inputs[0]});
                              }});
}

} // namespace

const OpDef& op_log() {
    static const OpDef def =
        pointwise_op<ScalarOp::log, PointwiseTypes::floating>("log", "The natural logarithm of x.\n{log: x}", gradient);
    return def;
}

} // namespace shard
