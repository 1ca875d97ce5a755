#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_log1p() {
    static const OpDef def =
        pointwise_op<ScalarOp::log1p, PointwiseTypes::floating>("log1p", "log(1 + x), exact for small x.\n{log1p: x}");
    return def;
}

} // namespace shard
