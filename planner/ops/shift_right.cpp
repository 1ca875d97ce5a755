#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_shift_right() {
    static const OpDef def = pointwise_op<ScalarOp::shift_right, PointwiseTypes::integer>(
        "shift_right", "A whole number divided by 2^m towards minus infinity.\n{shift_right: [n, m]}");
    return def;
}

} // namespace shard
