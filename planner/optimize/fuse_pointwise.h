// Pointwise kernels and reductions of the local graph take in what makes their operands, where the result is the same
// bit for bit:
//
//   leaves      an operand that is one number everywhere, or positions along a dim, becomes a step of every kernel that
//               reads it
//   programs    pointwise nodes over the same index space whose results nobody else reads become part of the node that
//               reads them: h = add(x, b); a = tanh(h); r = mul(h, a) is one pass over memory instead of three, and of
//               e = exp(x); s = sum of e nothing is stored but the sum
//
// Nodes whose results nobody reads any more stay in the graph; `optimize` drops them.
#pragma once

#include "planner/partition/local.h"

namespace shard {

void fuse_pointwise(Local& local);

} // namespace shard
