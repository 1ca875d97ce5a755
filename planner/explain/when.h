// When in a step a plan's collectives run, and whether anybody waits for them.
#pragma once

#include "planner/pipeline/compilation.h"
#include "planner/price/phases.h"

namespace shard {

struct When {
    Phase phase = Phase::forward;
    double exposed_seconds = 0; // of those that it takes, those in which the device waits for it
    bool begins_launch = true;  // rather than join that of the one before (plans/collective/launch.h)
};

// By collective of the plan's report.
std::vector<When> when_collectives_run(const Compilation& compilation);

} // namespace shard
