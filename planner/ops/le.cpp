#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_le() {
    static const OpDef def =
        pointwise_op<ScalarOp::le, PointwiseTypes::comparison>("le", "Whether x is at most y.\n{le: [x, y]}");
    return def;
}

} // namespace shard
