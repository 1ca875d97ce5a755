#include "planner/ops_support/gradient.h"
#include "planner/ops_support/pointwise.h"

namespace shard {

namespace {

// -2 / sqrt(pi) * exp(-x^2)
std::vector<ValueId> gradient(const GradientContext& context) {
    return pointwise_gradient(
        context, {[](Chain& chain, const GradientContext& at) {
            const ValueId bell = chain("exp", {chain("neg", {chain("mul", {at.inputs[0], at.inputs[0]})})});
            return chain("mul", {at.cotangent, chain("mul", bell, -1.12837916709551257390)});
        }});
}

} // namespace

const OpDef& op_erfc() {
    static const OpDef def = pointwise_op<ScalarOp::erfc, PointwiseTypes::floating>(
        "erfc", "1 - erf(x), exact where erf(x) is near 1.\n{erfc: x}", gradient);
    return def;
}

} // namespace shard
