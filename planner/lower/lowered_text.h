// A planned module as the manual program that it has become: a model file whose graph is one manual region over the
// whole mesh, with the local graph as its body. It compiles, runs and gives the same result with the same collectives,
// so that it can be read, edited and taken over.
#pragma once

#include "planner/pipeline/pipeline.h"

namespace shard {

// nullopt after reporting E0279 what a model file has no words for: a loop, a part of a mesh axis.
std::optional<std::string> lowered_text(const Compilation& compilation, Diagnostics& diagnostics);

} // namespace shard
