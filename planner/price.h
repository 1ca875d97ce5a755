// What the price pass and the judge share. The model is described in docs/cost-model.md.
#pragma once

#include "planner/local_names.h"
#include "planner/schedule.h"
#include "plans/saturating.h"

namespace shard {

// Seconds of the steps in order: a collective runs from its Start on a channel of its own, one at a time; a Wait waits
// for it.
TimeReport time_of(const Plan& plan, const Hardware& hardware);

// What is alive where the most bytes are alive, by what it is for. Of every buffer `contents` says what of the model it
// holds: values are activations, copies temporaries.
MemoryReport memory_of(const Plan& plan, const std::vector<Content>& contents);

// Every Compute and Start in order with how often it runs.
void for_each_step(const Plan& plan, const std::function<void(const Step& step, i64 count)>& visit);

} // namespace shard
