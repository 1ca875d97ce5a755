#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_shift_left() {
    static const OpDef def = pointwise_op<ScalarOp::shift_left, PointwiseTypes::integer>(
        "shift_left", "A whole number times 2^m, without the bits that leave it.\n{shift_left: [n, m]}");
    return def;
}

} // namespace shard
