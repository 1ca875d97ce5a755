#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_erf() {
    static const OpDef def =
        pointwise_op<ScalarOp::erf, PointwiseTypes::floating>("erf", "The error function of x.\n{erf: x}");
    return def;
}

} // namespace shard
