// FSDP: a parameter that the layout splits for storage alone is gathered where ops read it, by a constraint:
//
//     w [data | -]    w.gathered = constrain(w, [- | -])           h = dot(x, w.gathered)
//                     w.gathered.again = constrain(w, [- | -])     x.grad = dot(h.grad, w.gathered.again)
//                     w.grad [data | -], a reduce_scatter          w.new = sub(w, ...)
//
// One gather stands before the first reader of the forward pass and one before that of the backward pass, so that a
// parameter is whole only while a pass reads it. With `gather_again: false` there is one for both, before the loop over
// microbatches if there is one. The optimizer's update reads the parameter as it is stored.
//
// What is made of parameters alone and read in both passes (a transpose, a slice) would keep the gathered parameter's
// bytes alive in between: the backward pass makes it again. An elementwise op on a parameter alone that does not widen
// it (a cast to bf16) runs before the gather, on the shards.
#pragma once

#include "planner/graph/phase.h"
#include "planner/seed/seed.h"

namespace shard {

// Adds nodes in front of readers; ids of nodes change, in `seeds` too.
void gather_parameters(Graph& graph, const Layout& layout, Seeds& seeds);

// Whether a constrain node is such a gather. In the local graph, its collectives are too.
bool is_parameter_gather(const Node& node);
// The parameter that it gathers, of which a layer of a stack or a cast may be gathered.
ValueId gathered_parameter(const Graph& graph, const Node& node);
// The pass it is for: forward or backward.
Phase gather_phase(const Node& node);

} // namespace shard
