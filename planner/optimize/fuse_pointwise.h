// Pointwise kernels of the local graph take in what makes their operands, where the result is the same bit for bit:
//
//   constants   an operand that is one number everywhere becomes a constant step of every pointwise kernel that
//               reads it
//   chains      a pointwise node whose result is read by one pointwise node alone, over the same index space, becomes
//               part of it: h = add(x, b); a = tanh(h) is one pass over memory instead of two
//
// Nodes whose results nobody reads any more stay in the graph; `optimize` drops them.
#pragma once

#include "planner/partition/local.h"

namespace shard {

void fuse_pointwise(Local& local);

} // namespace shard
