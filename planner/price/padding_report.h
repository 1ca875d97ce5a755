// What dims that are padded cost a device: bytes of what it keeps, FLOPs of what it computes.
#pragma once

#include "planner/partition/local.h"
#include "planner/rewrite/pad_uneven.h"
#include "planner/schedule/schedule.h"

namespace shard {

// A device with as much padding as all have on average. Of a kernel's FLOPs the part that is not of real elements: for a
// contraction by its dims together, for others by the largest of what they read and make.
PaddingCost padding_cost(const Plan& plan, const Graph& graph, const Padding& padding, const Local& local,
                         const ScheduleMap& map);

} // namespace shard
