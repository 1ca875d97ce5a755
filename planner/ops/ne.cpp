#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_ne() {
    static const OpDef def =
        pointwise_op<ScalarOp::ne, PointwiseTypes::comparison>("ne", "Whether x differs from y.\n{ne: [x, y]}");
    return def;
}

} // namespace shard
