// Ops that only move elements (slice, pad, concatenate, rev: those of a permutation factor), where a dim along which
// they move is split. Each device makes its own block of the result: of what it has itself, and of the pieces of other
// devices' blocks that belong into it, and no more is sent than these.
//
//     x (256) over 8 devices, every element one place on:  a device sends its last element to the next one, which puts
//     it before its own first 31
//     the first half of x:  device i sends elements 0..15 of its 32 to device 2i, and 16..31 to device 2i + 1
//
// What is cut out at one place of every sender's block, and put at one place of every receiver's, is one message.
#pragma once

#include "plans/collective/collective.h"
#include "plans/kernel/kernel.h"

#include <optional>

namespace shard {

struct Halo {
    struct Message {
        int operand = 0;
        TensorType type;                    // what each device sends, and receives
        std::optional<Move> cut;            // of the device's block of the operand; nullopt: all of it
        std::optional<Collective> exchange; // nullopt: what a device cuts out it keeps
    };
    size_t dim = 0; // along which elements move
    std::vector<Message> messages;
    Move assemble; // the inputs are the operands, then the messages
};

// `whole` is the op on whole values. Types are those of a device, but for dim `dim`: of that they have all. The
// result's is to be split over `axes`, and those of the operands that divide are. nullopt: too many messages.
std::optional<Halo> halo(const Move& whole, std::span<const TensorType> operands, const TensorType& result, size_t dim,
                         std::span<const AxisRef> axes);

} // namespace shard
