#include "planner/price/phases.h"

namespace shard {

namespace {

constexpr std::string_view names[] = {"forward", "backward", "update"};

} // namespace

std::string_view name(Phase phase) { return names[static_cast<size_t>(phase)]; }

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
    const std::string_view pass = local.reshard() == nullptr ? "" : std::string_view(local.reshard()->gather_pass);
    for (Phase phase : {Phase::forward, Phase::backward})
        if (pass == name(phase)) return phase;
    if (local.origin >= update_) return Phase::update;
    return local.origin >= backward_ ? Phase::backward : Phase::forward;
}

} // namespace shard
