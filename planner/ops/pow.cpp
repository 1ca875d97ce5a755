#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_pow() {
    static const OpDef def =
        pointwise_op<ScalarOp::pow, PointwiseTypes::floating>("pow", "x to the power of y.\n{pow: [x, 2.0]}");
    return def;
}

} // namespace shard
