#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_round() {
    static const OpDef def = pointwise_op<ScalarOp::round, PointwiseTypes::floating>(
        "round", "The nearest whole number; halves go to the even one.\n{round: x}");
    return def;
}

} // namespace shard
