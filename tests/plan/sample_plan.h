// A small plan that has a little of everything a plan file can hold, and is accepted by verify_plan.
#pragma once

#include "plans/plan.h"

namespace shard {

Plan sample_plan();
Plan looping_plan(); // a loop of three trips, and offsets that depend on the trip and on a scalar

} // namespace shard
