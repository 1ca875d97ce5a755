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

// Of an op with windows (OpDef::overlaps): along one dim of an operand after the other, what devices send each other and
// the block that each makes of it, which its kernel reads in the operand's place.
struct OverlapStage {
    size_t operand = 0, dim = 0;
    std::vector<AxisRef> axes;
    Halo halo;
    TensorType type; // of the block
};
// None if the op has no windows or each device has what it reads; nullopt if it cannot be computed so.
std::optional<std::vector<OverlapStage>> overlap_stages(const ComputeQuery& query, const IndexRule& rule,
                                                        const ComputeSharding& choice);
// What a device's kernel reads: its parts of the operands, and of those that overlap what it makes of them.
std::vector<TensorType> overlapped_types(const ComputeQuery& query, const IndexRule& rule,
                                         const ComputeSharding& choice);

} // namespace shard
