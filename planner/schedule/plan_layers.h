// Which dims of parameters and states hold layers, and where the layer's number stands in the name of a block that is
// written out: so that a checkpoint of one serves the other.
#pragma once

#include "planner/graph/graph.h"
#include "plans/plan/plan.h"

namespace shard {

// Fills PlanInput::layers.
void name_layers(Plan& plan, const Graph& graph);

} // namespace shard
