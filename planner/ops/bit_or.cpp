#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_bit_or() {
    static const OpDef def = pointwise_op<ScalarOp::bit_or, PointwiseTypes::integer>(
        "bit_or", "The bits that either of whole numbers n and m has.\n{bit_or: [n, m]}");
    return def;
}

} // namespace shard
