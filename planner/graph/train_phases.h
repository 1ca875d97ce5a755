// Which part of a train step a node belongs to by what is made of it, wherever it stands. (What a report calls forward
// and backward are runs of a finished step: planner/price/phases.h.)
#pragma once

#include "planner/graph/graph.h"
#include "planner/graph/phase.h"

namespace shard {

std::vector<Phase> train_phases_of(const Graph& graph); // by node

} // namespace shard
