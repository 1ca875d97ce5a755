// The running index of a loop, as ops of its body see it: by attributes of their own, so that an op needs no graph.
//
//     loop      the loop's number in Graph::loops, which is also the plan's
//     trips     how often it runs
//     reverse   the index counts down
#pragma once

#include "planner/graph/op_def.h"

namespace shard {

Attributes loop_attributes(const Graph& graph, int loop); // the three above, of that loop
i64 loop_trips(const Attributes& attributes);
// 0 .. trips-1, or down to 0.
Affine loop_index(const Attributes& attributes);

// Of an op that draws: the loops around it, outer first, under `loops`, with their trips and directions; without as many
// of the innermost ones as `loops_alike` says, in whose trips it draws parts of one array.
void set_loops_around(Attributes& attributes, const Graph& graph, int innermost);
// Their indices.
std::vector<Affine> loop_indices(const Attributes& attributes);

} // namespace shard
