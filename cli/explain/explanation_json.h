// Explanations for scripts.
#pragma once

#include "planner/explain/explanation.h"

namespace shard {

// {format_version, tool, model, mode, tensors: [...]}
std::string explanations_json(const Plan& plan, const std::vector<Explanation>& explanations);

} // namespace shard
