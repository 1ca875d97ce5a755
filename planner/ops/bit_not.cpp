#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_bit_not() {
    static const OpDef def = pointwise_op<ScalarOp::bit_not, PointwiseTypes::integer>(
        "bit_not", "The bits that a whole number lacks.\n{bit_not: n}");
    return def;
}

} // namespace shard
