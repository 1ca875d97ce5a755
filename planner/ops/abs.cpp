#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_abs() {
    static const OpDef def =
        pointwise_op<ScalarOp::abs, PointwiseTypes::signed_>("abs", "The absolute value of x.\n{abs: x}");
    return def;
}

} // namespace shard
