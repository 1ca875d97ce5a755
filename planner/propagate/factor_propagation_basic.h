// A factor takes only axes that fit every tensor of the op.
#pragma once

#include "planner/propagate/factor_propagation.h"

namespace shard {

// One direction per factor of the rule. Both return whether anything changed.
bool propagate_basic(Projection& projection, const IndexRule& rule, std::span<const Direction> directions);

} // namespace shard
