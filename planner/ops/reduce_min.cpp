#include "planner/ops_support/gradient.h"
#include "planner/ops_support/reduce.h"

namespace shard {

const OpDef& op_reduce_min() {
    static const OpDef def = reduce_op<ReduceOp::min>(
        "reduce_min",
        "The smallest element over some dims; NaN if one is NaN.\n{reduce_min: x, dims: [-1], keepdims: true}",
        reduce_extremum_gradient);
    return def;
}

} // namespace shard
