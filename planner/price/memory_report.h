// Bytes of a plan where the most are alive, by what they are for.
#pragma once

#include "planner/partition/local_names.h"
#include "plans/plan/plan.h"

namespace shard {

// What is alive where the most bytes are alive, by what it is for. Of every buffer `contents` says what of the model it
// holds: values are activations, copies temporaries.
MemoryReport memory_of(const Plan& plan, const std::vector<Content>& contents);

} // namespace shard
