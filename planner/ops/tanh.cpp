#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_tanh() {
    static const OpDef def =
        pointwise_op<ScalarOp::tanh, PointwiseTypes::floating>("tanh", "The hyperbolic tangent of x.\n{tanh: x}");
    return def;
}

} // namespace shard
