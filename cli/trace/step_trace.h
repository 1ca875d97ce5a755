// What a trace shows of a step: the steps of the plan by name, inside the modules that they belong to, the collectives
// while they last, and the memory of a device.
#pragma once

#include "cli/trace/trace_file.h"
#include "executor/run/run.h"
#include "planner/explain/course.h"

#include <span>

namespace shard {

// A process for any device, all being alike, as the cost model runs the step. Of a loop one trip is shown, the second.
void add_prediction(TraceFile& file, const Plan& plan, const Course& course);

// A process for each device, as it was emulated: the spans of RunResult. The course is the plan's own; without one the
// memory and the sizes of kernels are left out.
void add_execution(TraceFile& file, const Plan& plan, const Course* course,
                   std::span<const std::vector<RunSpan>> devices);

} // namespace shard
