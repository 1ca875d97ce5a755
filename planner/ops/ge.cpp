#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_ge() {
    static const OpDef def =
        pointwise_op<ScalarOp::ge, PointwiseTypes::comparison>("ge", "Whether x is at least y.\n{ge: [x, y]}");
    return def;
}

} // namespace shard
