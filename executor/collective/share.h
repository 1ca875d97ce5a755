// What one device does in a collective over shared memory, when all operands of its group are there: one file per kind
// (executor/collectives/<kind>.cpp). The bytes that all devices of a group move are those of the algorithm in
// plans/collectives/<kind>.cpp; they are counted where they are moved, never by the formula.
#pragma once

#include "executor/collective/traffic.h"
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

// What one member does: reads every member's input, writes its own output. `traffic` counts what crosses devices.
void carry_out_share(const Share& share, Traffic& traffic);

// --- shared by the kinds ---

// Where the block that comes from a member lies: in its input, and in the own output.
struct ShareBlock {
    Shape extent;
    std::vector<i64> in_start, out_start;
};
ShareBlock block_from(const Share& share, size_t member);

// Copies every member's block to its place.
void exchange_blocks(const Share& share, Traffic& traffic);

// A member's whole buffer; the own one if that is in its place already costs nothing.
void copy_from(const Share& share, size_t member, Traffic& traffic);

} // namespace shard
