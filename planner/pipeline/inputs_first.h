// What inputs split leads where parameters are split over the same axes, where that makes a faster step.
//
//     x [data | - | -]  w [- | data]        parameters are gathered where examples meet them, as under fsdp
//
// Propagation takes what it meets first: a parameter's split may be carried into values that examples are in, and the
// examples are moved in front of each product and back behind it.
#pragma once

#include "planner/seed/seed.h"

namespace shard {

// The priority of what parameters split, then; a user may write it too, and would mean the same.
inline constexpr int after_inputs = storage_priority - 1;

// The seeds, with all that parameters split after all that inputs split. nullopt: they have no axis in common, or the
// layout says itself what comes first.
std::optional<Seeds> seed_inputs_first(const Graph& graph, const Seeds& seeds);

} // namespace shard
