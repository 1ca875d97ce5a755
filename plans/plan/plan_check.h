// The check of a plan before anything runs it: what makes it safe, piece by piece (plans/plan/plan_check_types.h,
// _kernel, _steps).
#pragma once

#include "plans/plan/plan.h"

namespace shard {

// What is wrong with a plan, and the path of it in plan.json, such as "steps[3]" or "buffers[2] 'w1'".
struct PlanProblem {
    std::string where, what;
};

// Checks everything the executor relies on: ids, shapes against kernels, extents inside the arena and not overlapping
// while alive, every buffer written before it is read, starts and waits paired, divisibility. At most ten problems;
// none of a plan that is safe to run.
std::vector<PlanProblem> plan_problems(const Plan& plan);

} // namespace shard
