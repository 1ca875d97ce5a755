#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_and() {
    static const OpDef def = pointwise_op<ScalarOp::logical_and, PointwiseTypes::boolean>(
        "and", "Whether p and q are both true.\n{and: [p, q]}");
    return def;
}

} // namespace shard
