// Tensors as users name them.
#pragma once

#include "planner/pipeline/pipeline.h"

namespace shard {

// The rows of the report that a user means: an exact name; else a name by the model's rules ("a" is the last rebinding
// of a); else a glob, such as a name that reports fold, "block.{0..11}.x". Empty if there is none. The role output is
// preferred to the value of the same name only if nothing else has that name.
std::vector<const TensorReport*> find_tensors(const Compilation& compilation, const std::string& wanted);

// True if a collective is for the tensor or for another rebinding of the same name ("a" and "a#2").
bool touches(const CollectiveReport& collective, std::string_view tensor);

// The value of a report's row. A row of a rebound name means its own binding, where a bare name that a user writes
// means the last; an output goes by the name that the model gives it, which may be a bare one.
std::optional<ValueId> value_of(const Graph& graph, std::string_view name, Role role);

} // namespace shard
