#include "planner/ops_support/gradient.h"
#include "planner/ops_support/reduce.h"

namespace shard {

const OpDef& op_reduce_max() {
    static const OpDef def = reduce_op<ReduceOp::max>(
        "reduce_max",
        "The largest element over some dims; NaN if one is NaN.\n{reduce_max: x, dims: [-1], keepdims: true}",
        reduce_extremum_gradient);
    return def;
}

} // namespace shard
