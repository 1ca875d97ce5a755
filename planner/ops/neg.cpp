#include "planner/ops_support/gradient.h"
#include "planner/ops_support/pointwise.h"

namespace shard {

namespace {

std::vector<ValueId> gradient(const GradientContext& context) {
    return pointwise_gradient(context,
                              {[](Chain& chain, const GradientContext& at) { return chain("neg", {at.cotangent}); }});
}

} // namespace

const OpDef& op_neg() {
    static const OpDef def = [] {
        OpDef made =
            pointwise_op<ScalarOp::neg, PointwiseTypes::signed_>("neg", "-x, element by element.\n{neg: x}", gradient);
        made.linear_in = {0};
        return made;
    }();
    return def;
}

} // namespace shard
