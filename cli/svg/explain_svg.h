// `explain --svg`: tensors as tiles, why they are cut so, and how they get from one sharding to another.
#pragma once

#include "planner/explain/explanation.h"
#include "plans/plan/plan.h"

namespace shard {

std::string explain_svg(const Plan& plan, const std::vector<Explanation>& explanations);

} // namespace shard
