// The whole planner as one function.
#pragma once

#include "planner/pipeline/compilation.h"

namespace shard {

// Runs the request's passes until one reports an error, and checks after each what it promises.
Compilation compile(Sources& sources, const PlanRequest& request);

} // namespace shard
