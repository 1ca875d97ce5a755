// What the body of a backward loop needs of the forward loop that it reverses.
#pragma once

#include "planner/graph/builder.h"

namespace shard {

// What the backward body (open, its nodes from the loop's beginning to the end of the graph) and `ends`, its yields and
// terms, read of the forward body: the forward loop stacks it up, and each trip of the backward loop takes its entry.
// Pointwise chains and parts of stacks are computed again instead (planner/grad/recompute.h).
void fetch_from_forward(Builder& builder, int forward, int backward, std::vector<ValueId*> ends);

} // namespace shard
