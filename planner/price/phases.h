// In which part of a step a node stands: forward up to the loss, backward up to the gradients that the optimizer reads,
// then the update. The parts are runs of the graph's nodes: reverse mode appends what it makes, and so does the
// optimizer. A forward pass alone is all forward.
#pragma once

#include "planner/graph/graph.h"

namespace shard {

enum class Phase { forward, backward, update };
std::string_view name(Phase phase);

class Phases {
public:
    explicit Phases(const Graph& graph);

    // Of a node of the local graph.
    Phase of(const Node& local) const;

private:
    NodeId backward_, update_; // the first node of each; beyond all nodes if there is none
};

} // namespace shard
