// What would make a plan's collectives go or cost less: the changes of planner/explain/changes.h, each planned again.
//
// A remedy is a change that makes the whole step quicker, or lets it fit the device's memory where it does not; and
// that leaves the work as spread as it was: to switch data parallelism off removes collectives too, and helps nobody.
#pragma once

#include "planner/pipeline/compilation.h"

namespace shard {

// By collective of the plan's report, the best of them that helps it, with its effect on the whole plan; empty: none.
//
//     {batch: [data, model]} for {batch: data} at layout.yaml:3: step -12.0 us (-42%), memory +6.01 MiB
std::vector<std::string> find_remedies(const Compilation& compilation, const Sources& sources,
                                       const PlanRequest& request);

} // namespace shard
