// Where two plans part.
#pragma once

#include "plans/plan/plan.h"

namespace shard {

// The path in plan.json of the first thing in which `plan` is not `other`, such as "steps[3]" or "report"; empty if
// they are the same. Which version of the program wrote them does not count: it may plan alike.
std::string first_difference(const Plan& plan, const Plan& other);

} // namespace shard
