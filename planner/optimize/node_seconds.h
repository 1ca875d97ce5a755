// Seconds of a node of the local graph, before memory is laid out.
#pragma once

#include "planner/graph/graph.h"
#include "plans/collective/hardware.h"

namespace shard {

// Of a kernel while it computes, in place where it can be; of a collective while it is sent, by itself; of views and
// markers 0.
double node_seconds(const Graph& graph, const Node& node, const Mesh& mesh, const Hardware& hardware);

} // namespace shard
