// An explanation for people.
#pragma once

#include "cli/terminal/paint.h"
#include "planner/explain/explanation.h"

namespace shard {

std::string explanation_text(const Plan& plan, const Explanation& explanation, const Paint& paint);
// One after the other; of none, what to ask for instead.
std::string explanations_text(const Plan& plan, const std::vector<Explanation>& explanations, const Paint& paint);

} // namespace shard
