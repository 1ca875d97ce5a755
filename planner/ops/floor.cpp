#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_floor() {
    static const OpDef def = pointwise_op<ScalarOp::floor, PointwiseTypes::floating>(
        "floor", "The largest whole number that is not above x.\n{floor: x}");
    return def;
}

} // namespace shard
