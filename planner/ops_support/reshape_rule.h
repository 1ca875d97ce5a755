// Which factors the dims of a reshape share, as in Shardy's rule for reshape.
//
//     (8, 4) -> (2, 16):  ([ij, k])->([i, jk]) {i=2, j=4, k=4}
#pragma once

#include "plans/sharding/index_rule.h"

namespace shard {

// Both shapes have the same number of elements, at least 1. A factor of one side alone must be whole on every device.
IndexRule reshape_rule(const Shape& from, const Shape& to);

} // namespace shard
