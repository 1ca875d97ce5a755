// Reads a model file.
#pragma once

#include "planner/model/model.h"

namespace shard {

std::optional<Model> read_model(const Sources& sources, int file, Diagnostics& diagnostics);

} // namespace shard
