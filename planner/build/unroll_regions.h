// What a manual region means, in plain ops on one device: every value of the body once per device, cut out of what
// enters, computed on as the body says, exchanged as the definitions of its device ops say (planner/graph/device_op.h),
// and put together where it leaves. Verification compares a plan with this, so it shares with the plan neither
// collectives nor their gradients.
#pragma once

#include "planner/graph/graph.h"

namespace shard {

// The graph without regions; itself if it has none. Grows with the number of devices.
Graph unroll_regions(const Graph& graph);

} // namespace shard
