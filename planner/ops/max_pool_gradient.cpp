#include "planner/ops_support/pooling.h"

namespace shard {

const OpDef& op_max_pool_gradient() {
    static const OpDef def = pool_gradient_def(
        "max_pool_gradient",
        "The gradient of x of a max_pool whose result has the gradient `given`, which goes to the first of the largest "
        "elements of each window.\n{max_pool_gradient: [x, given], window: 3, strides: 2, padding: same}",
        false);
    return def;
}

} // namespace shard
