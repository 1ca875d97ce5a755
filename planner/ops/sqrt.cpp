#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_sqrt() {
    static const OpDef def =
        pointwise_op<ScalarOp::sqrt, PointwiseTypes::floating>("sqrt", "The square root of x.\n{sqrt: x}");
    return def;
}

} // namespace shard
