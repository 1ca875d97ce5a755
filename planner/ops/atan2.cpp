#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_atan2() {
    static const OpDef def = pointwise_op<ScalarOp::atan2, PointwiseTypes::floating>(
        "atan2", "The angle, in radians, of the point whose coordinates are x and y.\n{atan2: [y, x]}");
    return def;
}

} // namespace shard
