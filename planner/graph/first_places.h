// Which operands of a node are the same value.
#pragma once

#include "planner/graph/node.h"

#include <cstddef>
#include <span>
#include <vector>

namespace shard {

// Of each value the first place where it stands: (a, b, a) gives (0, 1, 0). In n log n, for nodes of very many
// operands.
std::vector<size_t> first_places(std::span<const ValueId> values);

} // namespace shard
