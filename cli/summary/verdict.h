// What people ask first of a plan: does it fit, what bounds a step, how large is it?
#pragma once

#include "plans/plan/plan.h"

namespace shard {

// "time": "5.72 s a step, bound by compute: ..."
struct Fact {
    std::string label;
    std::string verdict; // in front, where there is one to give: "fits"
    bool is_good = true; // what the verdict says
    std::string text;
};

// Whether a device waits for less than the collectives take, as far as anybody can see.
bool is_partly_hidden(double seconds, double exposed_seconds);

// "3 ms, 12% of the step, which waits for them": copies to the host's memory and back.
std::string copies_text(const TimeReport& time);

// What takes most of a step: "compute", "communication" that a device waits for, or "copies to and from the host".
std::string_view bound_by(const TimeReport& time);

struct ParamsTotal {
    i64 count = 0, bytes = 0; // elements, and bytes of the whole arrays
    i64 on_device = 0;        // bytes
};
ParamsTotal params_total(const Report& report);

// Memory, time, and the host's memory, parameters and padding where there are any: what a report begins with.
std::vector<Fact> verdict_of(const Plan& plan);

// {"params", bytes}, ... of what is alive at the peak, the largest first, without those of no bytes.
std::vector<std::pair<std::string_view, i64>> memory_by_role(const MemoryReport& memory);

} // namespace shard
