// The memory of all emulated devices: one mapping, one arena per device, made once per run_plan (the first touch of a
// page costs more than using it). Arenas are skewed by a few cache lines, so that the same offset of all of them does
// not fall on one cache set; between two there is always a line that belongs to nobody. Those of less than a page are
// packed: a million devices with a few numbers each are then no gigabytes.
//
// Who owns what: an arena's bytes belong to its device's program. Between Start and the completion of a collective its
// input may be read, and its output written, by the workers that carry out the peers' shares
// (executor/collective/shared_memory.h).
#pragma once

#include "plans/plan/plan.h"

#include <cstddef>

namespace shard {

// What a device has in its host's memory lies behind its arena, as memory of its own; offsets from the beginning of
// both.
i64 memory_bytes(const Plan& plan);
i64 place_of(const Plan& plan, const Buffer& buffer);

// What unwritten bytes hold: all ones, a NaN in every float type, -1 or the largest value in integers, no valid
// boolean.
constexpr int poison_byte = 0xFF;

class Arenas {
public:
    Arenas() = default;
    Arenas(const Arenas&) = delete;
    Arenas& operator=(const Arenas&) = delete;
    ~Arenas();

    // Of all devices, from the first on; those that are not among the `held` have addresses and no memory, so that what
    // lies in them can be named. False if the machine does not give the memory.
    bool allocate(i64 devices, i64 bytes_per_device, i64 first, i64 held);
    std::byte* of(i64 device) const { return base_ + device * stride_; }
    i64 holder(const std::byte* at) const { return (at - base_) / stride_; } // the device in whose arena it lies
    i64 bytes() const { return bytes_; }

    // Bytes that allocate() asks for.
    static i64 total_bytes(i64 devices, i64 bytes_per_device);

private:
    std::byte* base_ = nullptr;
    i64 bytes_ = 0, stride_ = 0, mapped_ = 0;
};

} // namespace shard
