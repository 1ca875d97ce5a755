// How an op that moves elements along a dim is computed where the dim is split: what devices send each other
// (planner/partition/halo.h), from how the op is decided.
#pragma once

#include "planner/partition/compute_sharding.h"
#include "planner/partition/halo.h"

namespace shard {

// Whether a factor can be split over the axes: along a permutation the result's dim has to divide.
bool can_split(const IndexRule& rule, const ComputeQuery& query, size_t factor, std::span<const AxisRef> axes);
// The permutations that are split.
std::vector<size_t> split_permutations(const IndexRule& rule, std::span<const std::vector<AxisRef>> factor_axes);
// Along the only permutation that `choice` splits; nullopt if that takes too many messages.
std::optional<Halo> halo_of(const ComputeQuery& query, const IndexRule& rule, const ComputeSharding& choice);

} // namespace shard
