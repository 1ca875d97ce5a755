// What one device does in a collective over shared memory, when all operands of its group are there. By kind:
//   all_reduce          reduces elements [rank*count/n, (rank+1)*count/n) of all inputs and writes them to all outputs
//   reduce_scatter      reduces its own block of all inputs
//   all_gather, all_to_all, broadcast, collective_permute   copies its own result from the others' inputs
// The bytes that all devices of a group move are those of the algorithm in plans/collectives/<kind>.cpp.
#pragma once

#include "executor/collectives/traffic.h"
#include "plans/collective/collective.h"

namespace shard {

struct Share {
    const Mesh& mesh;
    const Collective& collective;
    const std::vector<i64>& members;          // positions, by rank
    size_t rank = 0;                          // own
    std::span<const std::byte* const> inputs; // by rank
    std::span<std::byte* const> outputs;
    TensorType before, after; // local types

    const std::byte* input() const { return inputs[rank]; }
    std::byte* output() const { return outputs[rank]; }
};

void carry_out_share(const Share& share, Traffic& traffic);

} // namespace shard
