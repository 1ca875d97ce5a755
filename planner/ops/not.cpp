#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_not() {
    static const OpDef def =
        pointwise_op<ScalarOp::logical_not, PointwiseTypes::boolean>("not", "Whether x is false.\n{not: p}");
    return def;
}

} // namespace shard
