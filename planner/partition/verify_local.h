// What holds of every local graph.
#pragma once

#include "planner/partition/local.h"

namespace shard {

// Invariants of the local graph: kernels and collectives fit their types, values' shardings follow from sharding_after,
// outputs not partial.
void verify_local(const Local& local, const Mesh& mesh);

} // namespace shard
