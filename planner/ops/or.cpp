#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_or() {
    static const OpDef def =
        pointwise_op<ScalarOp::logical_or, PointwiseTypes::boolean>("or", "Whether p or q is true.\n{or: [p, q]}");
    return def;
}

} // namespace shard
