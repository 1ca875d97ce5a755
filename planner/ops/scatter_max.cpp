#include "planner/ops_support/scatter.h"

namespace shard {

const OpDef& op_scatter_max() {
    static const OpDef def = scatter_op<ReduceOp::max>(
        "scatter_max",
        "The largest of the rows that indices send to one place, and of an operand's row there: out[..., "
        "indices[i...], "
        "...] = max(updates[..., i..., ...]); without an operand, a place without rows has the least number.\n"
        "{scatter_max: [segments, updates], size: 8}",
        scatter_extremum_gradient);
    return def;
}

} // namespace shard
