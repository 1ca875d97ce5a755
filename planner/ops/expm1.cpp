#include "planner/ops_support/gradient.h"
#include "planner/ops_support/pointwise.h"

namespace shard {

namespace {

std::vector<ValueId> gradient(const GradientContext& context) {
    return pointwise_gradient(context, {[](Chain& chain, const GradientContext& at) {
                                  return chain("mul", {at.cotangent, chain("add", at.output, 1)});
                              }});
}

} // namespace

const OpDef& op_expm1() {
    static const OpDef def = pointwise_op<ScalarOp::expm1, PointwiseTypes::floating>(
        "expm1", "exp(x) - 1, exact for small x.\n{expm1: x}", gradient);
    return def;
}

} // namespace shard
