// The gradient that a module declares for itself, as nodes of the graph (Call::given, Call::gives). Build makes them
// where the module is called, so that they are checked, and see its values, as the module's own; reverse mode copies
// them into the backward pass; and what was only written down for it is removed.
#pragma once

#include "planner/graph/builder.h"

namespace shard {

// The gradients of a call's operands, from those of its results, of which -1 stands for zeros. -1 where none was asked
// for or none is given. What no gradient that was asked for needs is not copied.
std::vector<ValueId> copy_pattern(Builder& builder, const Call& call, std::span<const ValueId> cotangents,
                                  const std::vector<bool>& asked);

// `value` in every element of the type.
ValueId constant_of(Builder& builder, const TensorType& type, double value);

// In a manual region: the value, taken to vary over the mesh axes over which `like` does. It is summed over the others,
// as what every device reads gets the sum of what they all have to say about it.
ValueId varying_like(Builder& builder, ValueId id, ValueId like);

// Removes all patterns, nodes that nothing but they read, and the values of both; and the calls, which are for reverse
// mode.
void remove_patterns(Graph& graph);

} // namespace shard
