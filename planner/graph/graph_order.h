// Questions about order, answered by Boost.Graph over plain lists of edges.
#pragma once

#include <utility>
#include <vector>

namespace shard {

using Edges = std::vector<std::pair<int, int>>; // from, to

// The vertices of one cycle, in its direction; empty if there is none.
std::vector<int> find_cycle(int vertices, const Edges& edges);

} // namespace shard
