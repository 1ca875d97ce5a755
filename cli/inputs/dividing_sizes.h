// Where a dim does not divide over its mesh axes (E0313), or into microbatches (E0220), and its size is a number of the model that --set can change:
// the nearest numbers with which it does, each tried by planning with it.
#pragma once

#include "planner/pipeline/pipeline.h"

namespace shard {

// The nearest number below and the nearest above what is written for `name`, of those with which the first of these whose size
// it makes goes and nothing else comes. Either may be absent, both if it makes none of these sizes.
std::vector<i64> dividing_sizes(const Sources& sources, const PlanRequest& request, const Diagnostics& failed,
                                const std::string& name);

// Adds to the help of each of them what --set would do: "or set the size: --set batch=60 or --set batch=66".
void propose_sizes(const Sources& sources, const PlanRequest& request, Compilation& failed);

} // namespace shard
