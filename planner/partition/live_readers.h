// Who reads a value, of nodes that somebody reads.
#pragma once

#include "planner/graph/graph.h"

#include <algorithm>

namespace shard {

// Nobody reads what it makes. Loops are kept or dropped as a whole, by `optimize`.
template<typename ReadersOf>
bool is_unread(const Node& node, const ReadersOf& readers_of) {
    return !is_marker(node) &&
           std::all_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) { return readers_of(id) == 0; });
}

// By value, how many nodes and outputs read it; an op that reads it twice is one.
std::vector<int> live_readers(const Graph& graph);

} // namespace shard
