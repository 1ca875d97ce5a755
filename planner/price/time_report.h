// Seconds of a plan: its steps in order, and how often each runs.
#pragma once

#include "plans/collective/hardware.h"
#include "plans/plan/plan.h"

#include <functional>
#include <map>

namespace shard {

// When a step runs, in seconds from the beginning: of a loop all its trips, of a step of its body the second of them.
struct StepSpan {
    double begin = 0, end = 0; // of a collective, while the channel carries it
    i64 flops = 0, bytes = 0;  // of a kernel: what it computes, reads and writes
};

struct StepTime {
    TimeReport report;
    std::map<int, int> launches;   // by token of a collective: the first one of its launch
    std::map<int, double> seconds; // by token of a collective: its share of its launch (plans/collective/launch.h)
    std::map<int, double> waits;   // by token of a collective: the seconds in which a device waits for it
    std::vector<StepSpan> spans;   // by step as they are written, a loop before its body
};

// Seconds of the steps in order: a collective runs from its Start on a channel of its own, one launch at a time; a Wait
// waits for it.
StepTime step_time(const Plan& plan, const Hardware& hardware);
TimeReport time_of(const Plan& plan, const Hardware& hardware); // of that the report

i64 flops_of(const Plan& plan);      // of a device
i64 wire_bytes_of(const Plan& plan); // that all devices send

// Every Compute and Start in order with how often it runs.
void for_each_step(const Plan& plan, const std::function<void(const Step& step, i64 count)>& visit);

} // namespace shard
