#include "planner/ops_support/pooling.h"

namespace shard {

const OpDef& op_min_pool_gradient() {
    static const OpDef def = pool_gradient_def(
        "min_pool_gradient",
        "The gradient of x of a min_pool whose result has the gradient `given`, which goes to the first of the "
        "smallest "
        "elements of each window.\n{min_pool_gradient: [x, given], window: 3, strides: 2, padding: same}",
        true);
    return def;
}

} // namespace shard
