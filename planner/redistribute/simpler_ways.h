// What would do instead of a collective that a manual region's body asks for: nothing, something local, or a cheaper
// sequence (planner/redistribute/cheaper_sequence.h). shardc carries out what is written; this is for `explain`.
#pragma once

#include "planner/graph/graph.h"
#include "planner/graph/users.h"
#include "planner/redistribute/redistributor.h"

namespace shard {

// Of a node with a device op; users[value] are its readers. Empty if what is written is as good as any
// known.
std::string simpler_way(const Graph& graph, const Users& users, const Node& node, Redistributor& redistributor);

} // namespace shard
