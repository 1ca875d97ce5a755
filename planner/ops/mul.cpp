#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_mul() {
    static const OpDef def = [] {
        OpDef made = pointwise_op<ScalarOp::mul, PointwiseTypes::numeric>(
            "mul", "x * y, with numpy broadcasting.\n{mul: [x, 0.5]}");
        made.linear_in = {0, 1};
        return made;
    }();
    return def;
}

} // namespace shard
