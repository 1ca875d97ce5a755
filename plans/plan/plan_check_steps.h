// The steps of a plan, checked by running them over the state of every buffer.
#pragma once

#include "plans/plan/plan.h"

#include <functional>
#include <string>

namespace shard {

inline constexpr int deepest_loops = 8; // loops inside loops: each is walked twice for each walk of the one around

// Runs the steps over the state of every buffer: written before read, not overlapping while alive, starts and waits
// paired. Calls `report` with the path of a step and what is wrong. Buffers must have passed their own checks. Returns
// the highest end of an extent that is alive at some step, in the device's arena and in that on the host.
struct PeakBytes {
    i64 device = 0, host = 0;
};
PeakBytes check_steps(const Plan& plan,
                      const std::function<void(const std::string& where, const std::string& what)>& report);

} // namespace shard
