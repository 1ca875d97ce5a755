// Reads a model file; nullopt after reporting all that is wrong with it. Types, and what entries call, are for build.
// `training` is what `$training` stands for; false unless said.
#pragma once

#include "planner/model/model.h"

namespace shard {

std::optional<Model> read_model(const Sources& sources, int file, Diagnostics& diagnostics);
std::optional<Model> read_model(const Sources& sources, int file, Diagnostics& diagnostics, bool training);

} // namespace shard
