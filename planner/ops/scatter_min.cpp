#include "planner/ops_support/scatter.h"

namespace shard {

const OpDef& op_scatter_min() {
    static const OpDef def = scatter_op<ReduceOp::min>(
        "scatter_min",
        "The least of the rows that indices send to one place, and of an operand's row there: out[..., indices[i...], "
        "...] = min(updates[..., i..., ...]); without an operand, a place without rows has the largest number.\n"
        "{scatter_min: [segments, updates], size: 8}",
        scatter_extremum_gradient);
    return def;
}

} // namespace shard
