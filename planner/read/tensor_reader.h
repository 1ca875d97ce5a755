// Inputs and parameters of a model or a module: `name: {axes: [batch, embed], dtype: bf16, init: lecun_normal}`.
#pragma once

#include "planner/model/model.h"
#include "planner/read/entry_context.h"

namespace shard {

// A target is an input of the loss alone (`train: {targets: ...}`).
enum class TensorRole { input, param, variable, target };

// Reads a map of tensors. Entries with errors are reported (E0201, E0205, E0209 to E0212, ...) and left out; false
// then.
bool read_tensors(const Yaml& yaml, TensorRole role, const EntryContext& context, std::vector<TensorDecl>& tensors,
                  Diagnostics& diagnostics);

} // namespace shard
