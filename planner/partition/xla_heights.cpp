#include "planner/partition/xla_heights.h"

#include "planner/graph/verify_loops.h"

#include <algorithm>
#include <cstdlib>

namespace shard {

namespace {

const int most_distance = std::getenv("XLADIST") ? std::atoi(std::getenv("XLADIST")) : 75;

} // namespace

std::vector<int> xla_heights(const Graph& graph) {
    std::vector<int> heights(graph.nodes.size()), of_value(graph.values.size());
    for (NodeId id = static_cast<NodeId>(graph.nodes.size()); id-- > 0;) {
        const Node& node = graph.node(id);
        for (ValueId output : node.outputs) heights[id] = std::max(heights[id], of_value[output] + 1);
        if (node.opens() >= 0) heights[id] = heights[graph.loops[node.opens()].closes];
        if (node.closes() >= 0) continue; // what it reads is at the end of a body
        for (ValueId input : node.inputs)
            if (graph.value(input).loop == node.loop || node.opens() >= 0)
                of_value[input] = std::max(of_value[input], heights[id]);
    }
    return heights;
}

bool xla_keeps_gathered(int first_height, int later_height) { return first_height <= later_height + most_distance; }

} // namespace shard
