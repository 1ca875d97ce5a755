#include "planner/ops_support/gradient.h"
#include "planner/ops_support/pointwise.h"

namespace shard {

namespace {

std::vector<ValueId> gradient(const GradientContext& context) {
    const GradientFormula left = [](Chain&, const GradientContext& at) { return at.cotangent; };
    const GradientFormula right = [](Chain& chain, const GradientContext& at) { return chain("neg", {at.cotangent}); };
    return pointwise_gradient(context, {left, right});
}

} // namespace

const OpDef& op_sub() {
    static const OpDef def = [] {
        OpDef made = pointwise_op<ScalarOp::sub, PointwiseTypes::numeric>(
            "sub", "x - y, with numpy broadcasting.\n{sub: [x, y]}", gradient);
        made.jointly_linear = true;
        return made;
    }();
    return def;
}

} // namespace shard
