// Which part of a train step a node belongs to. A graph without gradients is all forward.
#pragma once

#include "planner/graph.h"

namespace shard {

enum class Pass {
    forward,  // what the loss and other outputs are made of that no gradient enters
    backward, // what gradients are made of besides
    update    // the rest, made of gradients: clipping, the optimizer
};

std::vector<Pass> passes_of(const Graph& graph); // by node

} // namespace shard
