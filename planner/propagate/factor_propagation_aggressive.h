// The aggressive strategy (planner/propagate/factor_propagation.h): every tensor takes what fits itself.
#pragma once

#include "planner/propagate/factor_propagation.h"

namespace shard {

// directions: by factor. Whether anything was added.
bool propagate_aggressive(Projection& projection, const IndexRule& rule, std::span<const Direction> directions,
                          bool pointwise);

} // namespace shard
