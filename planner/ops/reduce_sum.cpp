#include "planner/ops_support/reduce.h"

namespace shard {

const OpDef& op_reduce_sum() {
    static const OpDef def =
        reduce_op<ReduceOp::sum>("reduce_sum", "The sum over some dims.\n{reduce_sum: x, dims: [-1], keepdims: true}");
    return def;
}

} // namespace shard
