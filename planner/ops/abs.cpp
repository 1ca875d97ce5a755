#include "planner/ops_support/gradient.h"
#include "planner/ops_support/pointwise.h"

namespace shard {

namespace {

std::vector<ValueId> gradient(const GradientContext& context) {
    return pointwise_gradient(context, {[](Chain& chain, const GradientContext& at) {
                                  return chain("mul", {at.cotangent, chain("sign", {at.inputs[0]})});
                              }});
}

} // namespace

const OpDef& op_abs() {
    static const OpDef def =
        pointwise_op<ScalarOp::abs, PointwiseTypes::signed_>("abs", "The absolute value of x.\n{abs: x}", gradient);
    return def;
}

} // namespace shard
