// What the pass `grad` does: a graph with a loss becomes one train step. Gradients of the loss with respect to all
// parameters are added, clipped if asked for, and go into the optimizer's update; states are inputs like parameters,
// and the new parameters and states are outputs that replace them (Graph::updates).
//
// Outputs afterwards: loss, the metrics, what the model updates by hand, then every new parameter and state under its
// own name. What is updated by hand is not trained.
#pragma once

#include "planner/graph/builder.h"
#include "planner/model/model.h"

namespace shard {

// Optimizer arguments that do not fit are reported (E02xx); false then.
bool add_train_step(Builder& builder, const Model& model, Diagnostics& diagnostics);

} // namespace shard
