// What a run will allocate, known before it does: the arenas, what keeps track of devices and collectives, and the
// outputs. A million devices of a few bytes each are no small run: each has a place in the program, and a place in each
// collective.
#pragma once

#include "plans/plan/plan.h"

#include <optional>

namespace shard {

// More than any machine has; sums that would be more, and runs of more devices than an int counts, are this.
inline constexpr i64 most_required_bytes = i64{1} << 61;

// `returns_initial`: also what the outputs that update inputs were at first. `held`: the devices of this process, if
// there are others.
i64 required_bytes(const Plan& plan, bool returns_initial = false, std::optional<i64> held = std::nullopt);

// After a run, while it is compared with one of `reference`, on one device, which is repeated with other rounding: the results of
// both are held meanwhile, and then both of an output as f64, of one that updates an input also what it was at first and
// how far it may be off.
i64 verified_bytes(const Plan& plan, const Plan& reference);

// The part of it that grows with the number of devices, without their arenas.
i64 bookkeeping_bytes(const Plan& plan, std::optional<i64> held = std::nullopt);

} // namespace shard
