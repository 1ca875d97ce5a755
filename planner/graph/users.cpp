#include "planner/graph/users.h"

#include <algorithm>

namespace shard {

Users::Users(const Graph& graph) : begin_(graph.values.size()), count_(graph.values.size()) {
    for (const Node& node : graph.nodes)
        for (ValueId input : node.inputs) ++count_[input];
    size_t total = 0;
    for (size_t id = 0; id < count_.size(); ++id) {
        begin_[id] = total;
        total += count_[id];
        count_[id] = 0;
    }
    nodes_.resize(total);
    for (size_t n = 0; n < graph.nodes.size(); ++n)
        for (ValueId input : graph.nodes[n].inputs) nodes_[begin_[input] + count_[input]++] = static_cast<NodeId>(n);
}

void Users::erase(ValueId id, NodeId user) {
    const std::vector<NodeId>::iterator begin = nodes_.begin() + static_cast<std::ptrdiff_t>(begin_[id]);
    const std::vector<NodeId>::iterator end = begin + static_cast<std::ptrdiff_t>(count_[id]);
    count_[id] = static_cast<size_t>(std::remove(begin, end, user) - begin);
}

} // namespace shard
