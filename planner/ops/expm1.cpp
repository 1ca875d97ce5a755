#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_expm1() {
    static const OpDef def =
        pointwise_op<ScalarOp::expm1, PointwiseTypes::floating>("expm1", "exp(x) - 1, exact for small x.\n{expm1: x}");
    return def;
}

} // namespace shard
