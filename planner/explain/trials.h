// What changes of a layout or a model would cost.
#pragma once

#include "planner/explain/changes.h"

namespace shard {

// By change: the report of the plan with it. nullopt: the change does not fit the model, or the plan is what it is
// without it. The changes are planned on all cores, and those after which the graph has the same shardings once.
std::vector<std::optional<Report>> try_changes(std::span<const Change> changes, const Sources& sources,
                                               const PlanRequest& request);

} // namespace shard
