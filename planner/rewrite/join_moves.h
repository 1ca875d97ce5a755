// Slices, paddings, concatenations and reversals of one another become one op, where nobody else reads what is between
// them. A value between two of them may have a size that no mesh axis divides, though both ends have one:
//
//     a: slice x, 0 to 255      255 rows of 256: every device would need all of x
//     y: pad a, low 1           one place on: with x itself, devices send one row to their neighbours
#pragma once

#include "planner/seed/seed.h"

namespace shard {

// What is between keeps its name and a sharding, and is made by nobody.
void join_moves(Graph& graph, const Seeds& seeds);

} // namespace shard
