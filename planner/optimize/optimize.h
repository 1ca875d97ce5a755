// The optimize pass: rewrites the local graph, keeping what it means.
#pragma once

#include "planner/partition/local.h"

namespace shard {

void optimize(Local& local); // simplify_reshards, then fuses pointwise kernels
// Equal reshards become one, reductions that are only sliced become reduce_scatters, and what nobody reads goes. Every
// compute node still is one op.
void simplify_reshards(Local& local);

} // namespace shard
