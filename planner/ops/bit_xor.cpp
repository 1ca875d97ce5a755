#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_bit_xor() {
    static const OpDef def = pointwise_op<ScalarOp::bit_xor, PointwiseTypes::integer>(
        "bit_xor", "The bits that one of whole numbers n and m has and the other lacks.\n{bit_xor: [n, m]}");
    return def;
}

} // namespace shard
