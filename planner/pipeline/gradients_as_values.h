// Gradients that lie as the values whose gradients they are, where that makes a faster step.
//
// Reverse mode makes a gradient of two things: the gradient that comes from behind, and a value of the forward pass. Where
// the two lie differently on the same axes, propagation takes what it meets first, and may carry a split into a stretch of
// the backward pass whose forward pass is split otherwise: each value of it that is read there is then moved.
//
//     ye = h w2    on experts: [data | expert | ...]      moved by all_to_all to and from tokens, before and behind
//     y = comb ye  on tokens:  [data,expert | - | ...]
//     ye.grad      comes from y.grad on tokens; w2, with which it makes h.grad, lies on experts
#pragma once

#include "planner/propagate/propagate.h"

namespace shard {

// The seeds, and for each gradient that uses an axis along another dim than its value does: the value's sharding, dims that
// are whole open. Not of those that a constraint makes. nullopt: there are none.
std::optional<Seeds> seed_gradients_as_values(const Graph& graph, const Seeds& seeds, const Propagation& propagation);

} // namespace shard
