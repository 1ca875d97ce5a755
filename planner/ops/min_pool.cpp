#include "planner/ops_support/pooling.h"

namespace shard {

const OpDef& op_min_pool() {
    static const OpDef def = pool_op<ReduceOp::min>(
        "min_pool", "The smallest element of each window.\n{min_pool: x, window: 3, strides: 2, padding: same}",
        [](const GradientContext& context) { return selected_gradient("min_pool_gradient", context); });
    return def;
}

} // namespace shard
