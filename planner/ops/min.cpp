#include "planner/ops_support/gradient.h"
#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_min() {
    static const OpDef def = pointwise_op<ScalarOp::min, PointwiseTypes::numeric>(
        "min", "The smaller of x and y; NaN if one of them is NaN.\n{min: [x, y]}", extremum_gradient);
    return def;
}

} // namespace shard
