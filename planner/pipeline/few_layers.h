// The same model with few of its many equal layers, on which ways are told apart in a fraction of the time.
#pragma once

#include "planner/pipeline/compilation.h"

#include <string_view>

namespace shard {

// Compiled as far as the pass begins, under `all`'s layout, which may be one of several ways of it. nullopt: there are not
// many layers, or few of them cannot be planned.
std::optional<Compilation> few_layers_before(std::string_view pass, const Compilation& all, PlanRequest request,
                                             Sources sources);

} // namespace shard
