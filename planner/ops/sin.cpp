#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_sin() {
    static const OpDef def =
        pointwise_op<ScalarOp::sin, PointwiseTypes::floating>("sin", "The sine of x, in radians.\n{sin: x}");
    return def;
}

} // namespace shard
