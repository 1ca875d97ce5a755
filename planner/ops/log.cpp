#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_log() {
    static const OpDef def =
        pointwise_op<ScalarOp::log, PointwiseTypes::floating>("log", "The natural logarithm of x.\n{log: x}");
    return def;
}

} // namespace shard
