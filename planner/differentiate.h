// Reverse mode: adds to a graph the nodes that compute the gradient of a scalar. What comes out is an ordinary graph,
// so propagation, partitioning and pricing see forward and backward together.
//
// Nodes are visited backwards from the loss. A value that several nodes read sums up their contributions, in the order
// of the visits. Each op's contribution is its file's `gradient`; composites are primitives by then.
#pragma once

#include "planner/builder.h"

namespace shard {

// The gradients of `loss` (a floating-point scalar) with respect to values of the graph: each has the type of its
// value, and is zero where the loss does not depend on it.
std::vector<ValueId> differentiate(Builder& builder, ValueId loss, std::span<const ValueId> with_respect_to);

} // namespace shard
