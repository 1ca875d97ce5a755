#include "planner/ops_support/gradient.h"
#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_max() {
    static const OpDef def = pointwise_op<ScalarOp::max, PointwiseTypes::numeric>(
        "max", "The larger of x and y; NaN if one of them is NaN.\n{max: [x, 0]}", extremum_gradient);
    return def;
}

} // namespace shard
