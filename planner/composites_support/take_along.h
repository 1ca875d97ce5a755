// Elements by their positions along one dim: what sort and top_k make of an order.
#pragma once

#include "planner/graph/chain.h"

namespace shard {

// Both have the same dims, but for sizes along `dim`: the result's element [i, j, k] is x[i, positions[i, j, k], k].
ValueId take_along(Chain& chain, ValueId x, ValueId positions, i64 dim);

} // namespace shard
