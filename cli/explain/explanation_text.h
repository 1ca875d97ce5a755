// An explanation for people.
#pragma once

#include "cli/terminal/paint.h"
#include "planner/explain/explanation.h"

namespace shard {

std::string explanation_text(const Plan& plan, const Explanation& explanation, const Paint& paint);

} // namespace shard
