#include "planner/build/build.h"

#include "planner/build/model_builder.h"

namespace shard {

std::optional<Graph> build_graph(const Model& model, Diagnostics& diagnostics, const Mesh* mesh) {
    return ModelBuilder(model, mesh, diagnostics).build(false);
}

std::optional<Graph> build_train_graph(const Model& model, Diagnostics& diagnostics, const Mesh* mesh) {
    return ModelBuilder(model, mesh, diagnostics).build(true);
}

} // namespace shard
