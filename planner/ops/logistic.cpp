#include "planner/ops_support/gradient.h"
#include "planner/ops_support/pointwise.h"

namespace shard {

namespace {

std::vector<ValueId> gradient(const GradientContext& context) {
    return pointwise_gradient(
        context, {[](Chain& chain, const GradientContext& at) {
            const ValueId one = at.builder.scalar(1, chain.type(at.output).dtype);
            return chain("mul", {at.cotangent, chain("mul", {at.output, chain("sub", {one, at.output})})});
        }});
}

} // namespace

const OpDef& op_logistic() {
    static const OpDef def = pointwise_op<ScalarOp::logistic, PointwiseTypes::floating>(
        "logistic", "1 / (1 + exp(-x)).\n{logistic: x}", gradient);
    return def;
}

} // namespace shard
