// The keys of models, layouts and policies with what stands behind each, as the JSON Schemas say it
// (schemas/*.schema.json): the grammar of these files. A key's name is its path, NAME where names are free.
//
//     model.train.clip.global_norm    model.graph.NAME.repeat    layout.mesh.NAME.link
#pragma once

#include "cli/report/registries.h"

namespace shard {

// In the order of the schemas: model, layout, policy. What several keys hold in common, a graph for one, is listed
// below that of the shortest path.
std::vector<Item> schema_keys();

} // namespace shard
