// Reverse mode: adds to a graph the nodes that compute the gradient of a scalar. What comes out is an ordinary graph,
// so propagation, partitioning and pricing see forward and backward together.
//
// Nodes are visited backwards from the loss. A value that several nodes read sums up their contributions, in the order
// of the visits. Each op's contribution is its file's `gradient`. Composites and modules are differentiated by the
// nodes that they became, unless they have a gradient of their own (Call). Only what lies between the loss and the
// values asked for has a cotangent: "<value>.grad", of the value's type. Nothing flows through ops without `gradient`
// and through whole numbers.
//
// Pointwise results are computed again where that needs no more memory than keeping them: see planner/grad/recompute.h.
#pragma once

#include "planner/graph/builder.h"

namespace shard {

// The gradients of `loss` (a floating-point scalar) with respect to values of the graph: each has the type of its
// value, and is zero where the loss does not depend on it. They are distinct values, which the caller may rename.
std::vector<ValueId> differentiate(Builder& builder, ValueId loss, std::span<const ValueId> with_respect_to);

} // namespace shard
