#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_gt() {
    static const OpDef def =
        pointwise_op<ScalarOp::gt, PointwiseTypes::comparison>("gt", "Whether x is greater than y.\n{gt: [x, y]}");
    return def;
}

} // namespace shard
