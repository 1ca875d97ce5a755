#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_cos() {
    static const OpDef def =
        pointwise_op<ScalarOp::cos, PointwiseTypes::floating>("cos", "The cosine of x, in radians.\n{cos: x}");
    return def;
}

} // namespace shard
