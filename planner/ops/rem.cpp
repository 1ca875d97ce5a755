#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_rem() {
    static const OpDef def = pointwise_op<ScalarOp::rem, PointwiseTypes::numeric>(
        "rem", "The remainder of x / y, with the sign of x.\n{rem: [x, y]}");
    return def;
}

} // namespace shard
