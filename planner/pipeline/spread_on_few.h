// What is split behind sums, and what ops decide together, chosen on few of many equal layers: a plan of those is made in a
// fraction of the time, and each of the others goes as the one that it is like.
#pragma once

#include "planner/pipeline/compilation.h"

namespace shard {

// As spread_jointly() on all; nullopt: there are not many equal layers, or they are not quite alike.
std::optional<Partitioned> spread_as_few(Compilation& all, const PlanRequest& request, const Sources& sources);

} // namespace shard
