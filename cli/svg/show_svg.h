// `show --svg`: the mesh, and arrays of any rank as tiles in the colours of its axes.
#pragma once

#include "plans/plan/plan.h"

namespace shard {

// Layers that are laid out alike are drawn once.
std::string show_svg(const Plan& plan, const std::vector<const TensorReport*>& tensors);

} // namespace shard
