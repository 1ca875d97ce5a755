// Explanations for scripts.
#pragma once

#include "cli/explain/explanation.h"

namespace shard {

// {format_version, tool, model, mode, tensors: [...]}
std::string explanations_json(const Compiled& compiled, const std::vector<Explanation>& explanations);

} // namespace shard
