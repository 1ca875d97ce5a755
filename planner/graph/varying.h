// The varying check: a sharding at the end of a manual region that does not name an axis claims that all devices along
// it hold the same value. It must be so.
#pragma once

#include "planner/graph/graph.h"

namespace shard {

// Reports E0274 for the first axis over which the value varies and that its sharding does not name: the axis, the
// value, and the op that made it vary.
bool check_replicated(const Graph& graph, ValueId local, const Name& name, const Sharding& sharding, Span sharding_span,
                      Diagnostics& diagnostics);

} // namespace shard
