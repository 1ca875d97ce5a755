// The build pass: Model -> Graph.
#pragma once

#include "planner/graph/graph.h"
#include "planner/model/model.h"

namespace shard {

// The build pass: Model -> Graph. Modules and repeats are expanded, composites lowered, names resolved, initializers
// attached.
// `mesh` is that of the layout; only manual regions ask for it.
std::optional<Graph> build_graph(const Model& model, Diagnostics& diagnostics, const Mesh* mesh = nullptr);

} // namespace shard
