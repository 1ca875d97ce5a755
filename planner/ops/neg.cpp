#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_neg() {
    static const OpDef def = [] {
        OpDef made = pointwise_op<ScalarOp::neg, PointwiseTypes::signed_>("neg", "-x, element by element.\n{neg: x}");
        made.linear_in = {0};
        return made;
    }();
    return def;
}

} // namespace shard
