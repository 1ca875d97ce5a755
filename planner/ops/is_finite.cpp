#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_is_finite() {
    static const OpDef def = pointwise_op<ScalarOp::is_finite, PointwiseTypes::test>(
        "is_finite", "Whether x is neither infinite nor NaN.\n{is_finite: x}");
    return def;
}

} // namespace shard
