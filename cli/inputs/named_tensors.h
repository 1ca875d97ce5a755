// Tensors that are named on the command line.
#pragma once

#include "cli/terminal/env.h"
#include "planner/pipeline/compilation.h"

#include <span>

namespace shard {

// Those that collectives are for, of alike layers the first, at most eight; of `kind` unless it is empty.
std::vector<const TensorReport*> tensors_of_collectives(const Compilation& compilation, std::string_view kind = {});

// Those that the words mean (planner/explain/tensor_names.h), in their order; also the name of a collective: the tensors
// that such are for, of alike layers the first. nullopt, after E0706 with what is near, where a word means none.
std::optional<std::vector<const TensorReport*>> named_tensors(Env& env, const Compilation& compilation,
                                                              std::span<const std::string> words);

} // namespace shard
