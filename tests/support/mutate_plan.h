// Plans that no planner makes: fields of a good plan changed at random, as a hostile file could. Made from a tape of
// numbers, so that property tests and fuzzers share it.
#pragma once

#include "plans/plan/plan.h"

#include <cstdint>
#include <span>

namespace shard {

// Changes a few fields, as many as the tape asks for. Sizes that follow from others (a buffer's bytes, the peak) are
// corrected most of the time: otherwise nearly nothing gets past the first check.
void mutate_plan(Plan& plan, std::span<const std::uint32_t> tape);

// Whether running it takes little memory and time: few devices, a small arena, few trips of loops.
bool is_small(const Plan& plan);

} // namespace shard
