#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_ceil() {
    static const OpDef def = pointwise_op<ScalarOp::ceil, PointwiseTypes::floating>(
        "ceil", "The smallest whole number that is not below x.\n{ceil: x}");
    return def;
}

} // namespace shard
