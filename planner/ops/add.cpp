#include "planner/ops_support/gradient.h"
#include "planner/ops_support/pointwise.h"

namespace shard {

namespace {

std::vector<ValueId> gradient(const GradientContext& context) {
    const GradientFormula left = [](Chain&, const GradientContext& at) { return at.cotangent; };
    const GradientFormula right = [](Chain&, const GradientContext& at) { return at.cotangent; };
    return pointwise_gradient(context, {left, right});
}

} // namespace

const OpDef& op_add() {
    static const OpDef def = [] {
        OpDef made = pointwise_op<ScalarOp::add, PointwiseTypes::numeric>(
            "add", "x + y, with numpy broadcasting.\n{add: [x, y]}", gradient);
        made.jointly_linear = true;
        made.adds = true;
        return made;
    }();
    return def;
}

} // namespace shard
