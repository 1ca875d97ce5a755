// Which part of a train step a node belongs to. A graph without gradients is all forward.
#pragma once

#include "planner/graph/graph.h"

namespace shard {

enum class TrainPart {
    forward,  // what the loss and other outputs are made of that no gradient enters
    backward, // what gradients are made of besides
    update    // the rest, made of gradients: clipping, the optimizer
};

std::vector<TrainPart> train_parts_of(const Graph& graph); // by node

} // namespace shard
