#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_exp() {
    static const OpDef def =
        pointwise_op<ScalarOp::exp, PointwiseTypes::floating>("exp", "e to the power of x.\n{exp: x}");
    return def;
}

} // namespace shard
