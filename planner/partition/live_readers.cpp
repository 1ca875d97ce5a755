#include "planner/partition/live_readers.h"

#include "planner/graph/first_places.h"
#include "planner/graph/verify_loops.h"

namespace shard {

std::vector<int> live_readers(const Graph& graph) {
    std::vector<int> readers(graph.values.size());
    for (ValueId id : graph.outputs) ++readers[id];
    for (size_t n = graph.nodes.size(); n-- > 0;) {
        const Node& node = graph.nodes[n];
        if (is_unread(node, [&](ValueId id) { return readers[id]; })) continue;
        const std::vector<size_t> places = first_places(node.inputs);
        for (size_t i = 0; i < node.inputs.size(); ++i)
            if (places[i] == i) ++readers[node.inputs[i]];
    }
    return readers;
}

} // namespace shard
