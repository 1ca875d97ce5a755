// The price pass: plan + hardware -> plan.report. The model is described in docs/cost-model.md.
#pragma once

#include "planner/propagate/propagate.h"
#include "planner/rewrite/pad_uneven.h"
#include "planner/schedule/schedule.h"
#include "plans/collective/hardware.h"

namespace shard {

// Fills plan.report: tensors (global values by their propagated sharding, without padding), collectives, FLOPs, memory,
// time; and plan.padding.
void price(Plan& plan, const Graph& graph, const Local& local, const ScheduleMap& map, const Propagation& propagation,
           const Hardware& hardware, const Sources& sources, const Padding& padding = {});

} // namespace shard
