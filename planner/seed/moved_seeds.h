// Seeds of a graph that was gone through once more (planner/graph/graph_edit.h, retell).
#pragma once

#include "planner/seed/seed.h"

#include <span>

namespace shard {

// Constraints and decisions follow their nodes, to their new numbers by those before; what is new has no seed.
void move_seeds(Seeds& seeds, const Graph& graph, std::span<const NodeId> moved);

} // namespace shard
