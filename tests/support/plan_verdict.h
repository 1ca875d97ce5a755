// What the check of a plan says, in words.
#pragma once

#include "plans/plan/plan.h"

namespace shard {

// The first thing that is wrong with a plan; "fine" if nothing is.
std::string first_problem(const Plan& plan);
// All that is, in the order in which it is found.
std::string plan_verdict(const Plan& plan);

} // namespace shard
