// The build pass: Model -> Graph. Modules and repeats are expanded, composites lowered, names resolved, initializers
// attached. `mesh` is that of the layout; only manual regions ask for it.
#pragma once

#include "planner/graph/graph.h"
#include "planner/model/model.h"

namespace shard {

// For the forward pass alone.
std::optional<Graph> build_graph(const Model& model, Diagnostics& diagnostics, const Mesh* mesh = nullptr);
// With the targets as inputs, and with the loss and the metrics as outputs; Graph::loss is set. The model has a train
// block; planner/build/train.h adds the rest of the step.
std::optional<Graph> build_train_graph(const Model& model, Diagnostics& diagnostics, const Mesh* mesh = nullptr);

} // namespace shard
