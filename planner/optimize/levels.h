// The graph as what stands in one loop, or outside of all: passes that move nodes keep each level's nodes together.
#pragma once

#include "planner/graph/graph.h"

#include <functional>

namespace shard {

// A node of the level, or a loop inside it, from its first marker to its last.
struct LevelItem {
    NodeId first = -1, last = -1;
    std::vector<int> reads;   // items of the level that it needs, each once, ascending
    std::vector<int> readers; // the other way round

    bool is_loop() const { return first != last; }
};

struct Level {
    int loop = -1; // -1: outside of all
    std::vector<LevelItem> items;
};

// Inner levels before outer ones; `arrange` gives the numbers of a level's items in their new order.
void arrange_levels(Graph& graph, const std::function<std::vector<int>(const Level&)>& arrange);

} // namespace shard
