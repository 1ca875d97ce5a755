// The course of a step: when each step of the plan runs, and what the bytes hold meanwhile.
#pragma once

#include "planner/pipeline/compilation.h"
#include "planner/price/memory_report.h"
#include "planner/price/time_report.h"

namespace shard {

struct Course {
    StepTime time;
    MemoryUse memory;
};

// Of a compilation that has a plan.
Course course_of(const Compilation& compilation);

} // namespace shard
