#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_trunc_div() {
    static const OpDef def = pointwise_op<ScalarOp::div, PointwiseTypes::integer>(
        "trunc_div",
        "x / y of whole numbers, truncated towards zero; `div` of whole numbers becomes this.\n{trunc_div: [n, m]}");
    return def;
}

} // namespace shard
