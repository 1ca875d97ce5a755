// One emulated device: its coordinates, its arena, and its place in the program, so that it can stop at a collective
// and go on later on any worker. Owned by the worker that runs it (executor/devices/scheduler.h).
#pragma once

#include "executor/devices/arenas.h"
#include "executor/devices/backend.h"
#include "executor/devices/nudge.h"
#include "executor/devices/program.h"
#include "executor/devices/scheduler.h"

#include <chrono>

namespace shard {

// What all devices share, read only.
struct Machine {
    const Plan& plan;
    const Program& program;
    const Arenas& arenas;
    bool poison = true;
    Nudge nudge;
};

class Device {
public:
    Device(const Machine& machine, int position);

    // Back to the program's start; nothing in the arena changes.
    void restart();
    // Runs until the program ends or a collective is not complete.
    Progress advance(Backend& backend);

    // The bytes of a buffer, which count as touched from here on.
    std::byte* touch(const Buffer& buffer);
    std::byte* data(const Buffer& buffer) const { return arena_ + buffer.offset; }
    // Makes bytes unreadable; with poison off, only to AddressSanitizer.
    void poison(i64 offset, i64 bytes);

    int position() const { return position_; }
    std::span<const i64> coordinates() const { return coordinates_; }
    i64 touched_bytes() const { return touched_; }
    std::chrono::steady_clock::time_point started() const { return started_; }
    std::chrono::steady_clock::time_point ended() const { return ended_; }

private:
    void compute(const Compute& step);
    static i64 read_scalar(const void* device, int buffer);
    const Buffer& buffer(int id) const { return machine_.plan.buffers[id]; }

    const Machine& machine_;
    int position_;
    std::byte* arena_;
    std::vector<i64> coordinates_;
    size_t counter_ = 0;
    std::vector<i64> loops_; // by loop index id: the running trip
    i64 touched_ = 0;        // highest end of an extent that was handed to a kernel or a collective
    std::chrono::steady_clock::time_point started_, ended_;
};

} // namespace shard
