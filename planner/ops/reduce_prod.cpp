#include "planner/ops_support/reduce.h"

namespace shard {

const OpDef& op_reduce_prod() {
    static const OpDef def = reduce_op<ReduceOp::prod>(
        "reduce_prod", "The product over some dims.\n{reduce_prod: x, dims: [-1], keepdims: true}");
    return def;
}

} // namespace shard
