#include "planner/ops_support/pooling.h"

namespace shard {

const OpDef& op_max_pool() {
    static const OpDef def = pool_op<ReduceOp::max>(
        "max_pool", "The largest element of each window.\n{max_pool: x, window: 3, strides: 2, padding: same}",
        [](const GradientContext& context) { return selected_gradient("max_pool_gradient", context); });
    return def;
}

} // namespace shard
