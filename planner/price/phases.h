// In which part of a step a node stands: forward up to the loss, backward up to the gradients that the optimizer reads,
// then the update. The parts are runs of the graph's nodes, since reverse mode appends what it makes, and so does the
// optimizer: what the backward pass computes again is of the backward pass, whatever it is made of. A forward pass
// alone is all forward.
#pragma once

#include "planner/graph/graph.h"
#include "planner/graph/phase.h"

namespace shard {

class Phases {
public:
    explicit Phases(const Graph& graph);

    // Of a node of the local graph.
    Phase of(const Node& local) const;

private:
    NodeId backward_, update_; // the first node of each; beyond all nodes if there is none
};

} // namespace shard
