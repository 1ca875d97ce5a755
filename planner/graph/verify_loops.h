// Loops of a graph: their invariants, and where their nodes stand.
#pragma once

#include "planner/graph/graph.h"

namespace shard {

// The part about loops, which holds of local graphs too.
void verify_loops(const Graph& graph);
// Whether what stands in loop `inner` stands in `outer` too; -1 is outside all loops.
bool is_within(const Graph& graph, int inner, int outer);
// When node n is over, for somebody in `loop`: itself, or the end of the outermost loop around it that `loop` is
// outside of.
NodeId end_seen_from(const Graph& graph, int loop, NodeId n);

} // namespace shard
