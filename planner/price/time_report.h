// Seconds of a plan: its steps in order, and how often each runs.
#pragma once

#include "plans/collective/hardware.h"
#include "plans/plan/plan.h"

#include <functional>
#include <map>

namespace shard {

struct StepTime {
    TimeReport report;
    std::map<int, double> waits; // by token of a collective: the seconds in which a device waits for it
};

// Seconds of the steps in order: a collective runs from its Start on a channel of its own, one at a time; a Wait waits
// for it.
StepTime step_time(const Plan& plan, const Hardware& hardware);
TimeReport time_of(const Plan& plan, const Hardware& hardware); // of that the report

// Every Compute and Start in order with how often it runs.
void for_each_step(const Plan& plan, const std::function<void(const Step& step, i64 count)>& visit);

} // namespace shard
