#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_rsqrt() {
    static const OpDef def =
        pointwise_op<ScalarOp::rsqrt, PointwiseTypes::floating>("rsqrt", "1 / sqrt(x).\n{rsqrt: x}");
    return def;
}

} // namespace shard
