// The graph after each pass on a trip through its text: printed, read back and printed again it is the same text, and
// the next pass makes the same of what was read as of what it was printed from.
#pragma once

#include "planner/pipeline/compilation.h"

namespace shard {

// What went wrong, one line each; empty if all is well. From `grad` on: until then the loop over microbatches is open.
// `trips`: how many texts were read back is added.
std::vector<std::string> graph_trip_problems(Sources sources, const PlanRequest& request, int* trips = nullptr);

} // namespace shard
