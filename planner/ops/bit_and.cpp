#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_bit_and() {
    static const OpDef def = pointwise_op<ScalarOp::bit_and, PointwiseTypes::integer>(
        "bit_and", "The bits that whole numbers n and m both have.\n{bit_and: [n, m]}");
    return def;
}

} // namespace shard
