#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_atan2() {
    static const OpDef def = pointwise_op<ScalarOp::atan2, PointwiseTypes::floating>(
        "atan2", "The angle of the point (y, x) written {atan2: [y, x]}, in radians.\n{atan2: [y, x]}");
    return def;
}

} // namespace shard
