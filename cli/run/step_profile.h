// Where the time of a step goes: what takes it, kernels of a kind and waits for collectives, and the modules that it
// belongs to; executed beside predicted. After `perf report`, which sums samples in the same two ways.
#pragma once

#include "cli/terminal/paint.h"
#include "executor/run/run.h"
#include "planner/explain/course.h"

#include <span>

namespace shard {

struct ProfileRow {
    std::string name;
    i64 count = 0;                      // of kernels, or of collectives, that a device ran
    double executed = 0, predicted = 0; // seconds of the step that these take
    i64 flops = 0;                      // of a device
};

// Of a device, the mean of all. Where more devices than threads take turns at these, a kernel takes as much longer of
// the step, and collectives what is left of it.
struct StepProfile {
    size_t devices = 0;
    i64 at_once = 0;                    // devices that compute at a time
    double executed = 0, predicted = 0; // seconds of the step
    std::string hardware;               // that the prediction is for; empty without one
    std::vector<ProfileRow> kinds;      // "contract", "all_reduce over data"; the longest first
    std::vector<ProfileRow> modules;    // "block.*.attn", layers together, "" for what is in none; the longest first
};

// Of RunResult::spans. The course is the plan's own; without one there is no prediction.
StepProfile profile_of(const Plan& plan, const Course* course, std::span<const std::vector<RunSpan>> devices,
                       i64 at_once);

std::string profile_text(const StepProfile& profile, const Paint& paint);
std::string profile_json(const StepProfile& profile);

} // namespace shard
