#include "planner/ops_support/gradient.h"
#include "planner/ops_support/pointwise.h"

namespace shard {

namespace {

std::vector<ValueId> gradient(const GradientContext& context) {
    return pointwise_gradient(
        context, {[](Chain& chain, const GradientContext& at) {
            const ValueId one = at.builder.scalar(1, chain.type(at.output).dtype);
            return chain("mul", {at.cotangent, chain("sub", {one, chain("mul", {at.output, at.output})})});
        }});
}

} // namespace

const OpDef& op_tanh() {
    static const OpDef def = pointwise_op<ScalarOp::tanh, PointwiseTypes::floating>(
        "tanh", "The hyperbolic tangent of x.\n{tanh: x}", gradient);
    return def;
}

} // namespace shard
