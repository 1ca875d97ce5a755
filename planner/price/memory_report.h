// Bytes of a plan while its steps run, by what they are for.
#pragma once

#include "planner/partition/local_names.h"
#include "planner/schedule/schedule.h"
#include "plans/plan/plan.h"

namespace shard {

// Activations are values of the model that live from one step to a later one; temporaries are copies of values, made to
// be moved or computed with, and what a step needs while it runs.
enum class MemoryKind { inputs, params, optimizer_state, gradients, activations, temporaries };
inline constexpr size_t memory_kinds = 6;
// The field of that kind.
std::string_view name(MemoryKind kind); // "optimizer state"
i64& bytes_of(MemoryReport& memory, MemoryKind kind);

// Bytes that hold one thing for a while. Steps are counted as they are written, a loop before its body, of which every
// trip is alike.
struct HeldBytes {
    int buffer = -1; // whose value it is; -1: scratch of the step
    MemoryKind kind = MemoryKind::temporaries;
    i64 offset = 0, bytes = 0;
    i64 first = 0, last = 0;     // the steps during which they do, both included; -1 is before the first
    const Compute* by = nullptr; // of scratch: the plan's step that needs it
};

struct MemoryUse {
    MemoryReport most;           // what is alive where the most bytes are, and the plan's peak
    i64 peak_step = -1;          // the first step during which that is so
    i64 steps = 0;               // how many there are
    std::vector<HeldBytes> held; // in the order of their end
};

// Of every buffer `contents` says what of the model it holds: values are activations, copies temporaries.
MemoryUse memory_use(const Plan& plan, const std::vector<Content>& contents);

// What a person calls it: what begins as zeros, which no array of the model is, by its own name (block.x.stack).
std::string held_name(const Plan& plan, std::span<const TensorReport> arrays, const HeldBytes& held);

// What is held at the peak, the largest first, of equal ones in the order of their end.
std::vector<HeldBytes> held_at_peak(const MemoryUse& use);
// The first of them, for a report, and how many more there are. `tensors` have the places of arrays.
void add_largest(MemoryReport& memory, const MemoryUse& use, const Plan& plan, std::span<const TensorReport> tensors);

// By buffer of the plan.
std::vector<Content> contents_of_buffers(const Graph& graph, const Local& local, const ScheduleMap& map);

} // namespace shard
