// One emulated device: its coordinates, its arena, and its place in the program, so that it can stop at a collective
// and go on later on any worker. Owned by the worker that runs it (executor/devices/scheduler.h).
#pragma once

#include "executor/devices/arenas.h"
#include "executor/devices/backend.h"
#include "executor/devices/nudge.h"
#include "executor/devices/program.h"
#include "executor/devices/scheduler.h"
#include "executor/kernels/kernels.h"

#include <chrono>

namespace shard {

using Clock = std::chrono::steady_clock;

// When a device ran a step of the plan: of a loop all its trips; of a wait from where the device came to it.
struct StepRun {
    int step = -1; // counted as they are written, a loop before its body
    Clock::time_point begin, end;
};

// What all devices share, read only.
struct Machine {
    const Plan& plan;
    const Program& program;
    const Arenas& arenas;
    bool poison = true;
    Nudge nudge;
    bool timed = false; // devices note when they run what
};

class Device {
public:
    Device(const Machine& machine, int position);

    // Back to the program's start; nothing in the arena changes.
    void restart();
    // Runs until the program ends or a collective is not complete.
    Progress advance(Backend& backend, Team& team);

    // The bytes of a buffer, which count as touched from here on.
    std::byte* touch(const Buffer& buffer);
    std::byte* data(const Buffer& buffer) const { return arena_ + place_of(machine_.plan, buffer); }
    // Makes bytes unreadable, from place_of on; with poison off, only to AddressSanitizer.
    void poison(i64 place, i64 bytes);

    int position() const { return position_; }
    std::span<const i64> coordinates() const { return coordinates_; }
    i64 touched_bytes() const { return touched_; }
    i64 touched_host_bytes() const { return host_touched_; }
    Clock::time_point started() const { return started_; }
    Clock::time_point ended() const { return ended_; }
    // Since the start, in the order of their end; empty unless the machine is timed.
    std::span<const StepRun> runs() const { return runs_; }

private:
    void compute(const Compute& step, Team& team);
    void compute_together(std::span<const DeviceInstruction> run, Team& team);
    std::vector<Operand> operands(const Compute& step);
    AffineContext context() const { return {&machine_.plan.mesh, coordinates_, loops_, read_scalar, this}; }
    void note(const DeviceInstruction& done);
    static i64 read_scalar(const void* device, int buffer);
    const Buffer& buffer(int id) const { return machine_.plan.buffers[id]; }

    const Machine& machine_;
    int position_;
    std::byte* arena_;
    std::vector<i64> coordinates_;
    size_t counter_ = 0;
    std::vector<i64> loops_; // by loop index id: the running trip
    i64 touched_ = 0;        // highest end of an extent that was handed to a kernel or a collective
    i64 host_touched_ = 0;   // the same of those on the host
    Clock::time_point started_, ended_;
    std::vector<StepRun> runs_;
    bool parked_ = false;                    // at a wait
    Clock::time_point arrived_;              // at the instruction that is executed
    std::vector<Clock::time_point> entered_; // by loop index id: the running loop
};

} // namespace shard
