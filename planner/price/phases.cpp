#include "planner/price/phases.h"

namespace shard {

Phases::Phases(const Graph& graph)
    : backward_(static_cast<NodeId>(graph.nodes.size())), update_(static_cast<NodeId>(graph.nodes.size())) {
    NodeId last = -1; // that makes a gradient, or goes on to one
    for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
        const Node& node = graph.node(id);
        bool makes = !node.gradient_of.empty();
        for (ValueId made : node.outputs) makes = makes || graph.value(made).role == Role::gradient;
        if (!makes) continue;
        if (last < 0) backward_ = id;
        last = id;
    }
    if (last >= 0) update_ = last + 1;
}

// What is gathered says for which pass, wherever it stands.
Phase Phases::of(const Node& local) const {
    if (local.reshard() != nullptr && local.reshard()->gather_phase) return *local.reshard()->gather_phase;
    if (local.origin >= update_) return Phase::update;
    return local.origin >= backward_ ? Phase::backward : Phase::forward;
}

} // namespace shard
