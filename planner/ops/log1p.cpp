#include "planner/ops_support/gradient.h"
#include "planner/ops_support/pointwise.h"

namespace shard {

namespace {

std::vector<ValueId> gradient(const GradientContext& context) {
    return pointwise_gradient(context, {[](Chain& chain, const GradientContext& at) {
                                  return chain("div", {at.cotangent, chain("add", at.inputs[0], 1)});
                              }});
}

} // namespace

const OpDef& op_log1p() {
    static const OpDef def = pointwise_op<ScalarOp::log1p, PointwiseTypes::floating>(
        "log1p", "log(1 + x), exact for small x.\n{log1p: x}", gradient);
    return def;
}

} // namespace shard
