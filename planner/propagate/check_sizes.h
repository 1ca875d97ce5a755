// What 64-bit arithmetic cannot plan is refused before anything is multiplied out.
#pragma once

#include "planner/propagate/propagate.h"

namespace shard {

// Sizes that 64-bit arithmetic can plan; E0401. Runs before partition, and after it for what that added.
bool check_sizes(const Graph& graph, const Mesh& mesh, const Propagation& propagation, Diagnostics& diagnostics);

} // namespace shard
