// The `fsdp` pass: parameters are gathered where ops read them (planner/rewrite/gather_parameters.h). Those that outweigh
// what they meet (planner/rewrite/outweighing.h) may stay split, so that each op moves what is less, and may lead, so that
// values are split as they are from op to op: as makes the step that costs least.
#pragma once

#include "planner/pipeline/compilation.h"

namespace shard {

void gather_or_leave_split(Compilation& c);

} // namespace shard
