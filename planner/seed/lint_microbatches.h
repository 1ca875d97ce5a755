// What is odd about microbatches on a mesh.
#pragma once

#include "planner/seed/seed.h"

namespace shard {

// W0312: the rows of a microbatch are no multiple of the devices that the batch is split over, so that several devices
// compute the same ones.
void lint_microbatches(const Graph& graph, const Layout& layout, const Seeds& seeds, Allowances& allowances,
                       Diagnostics& diagnostics);

} // namespace shard
