#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_logistic() {
    static const OpDef def =
        pointwise_op<ScalarOp::logistic, PointwiseTypes::floating>("logistic", "1 / (1 + exp(-x)).\n{logistic: x}");
    return def;
}

} // namespace shard
