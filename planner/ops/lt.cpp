#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_lt() {
    static const OpDef def =
        pointwise_op<ScalarOp::lt, PointwiseTypes::comparison>("lt", "Whether x is less than y.\n{lt: [x, y]}");
    return def;
}

} // namespace shard
