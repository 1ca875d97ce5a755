// What one way to do a thing costs, in the order in which it counts if nobody prefers another: seconds, wire bytes,
// collectives; then local work, so that of two ways that cost the same the one that shares the work between more devices
// is taken.
#pragma once

#include "planner/model/prefer.h"
#include "planner/redistribute/redistribute.h"
#include "plans/base/saturating.h"

namespace shard {

struct PlanCost {
    double seconds = 0;
    i64 wire_bytes = 0;
    int collectives = 0;
    i64 flops = 0;       // of one device
    i64 local_bytes = 0; // read and written by one device

    void add(const Redistribution& redistribution) {
        seconds += redistribution.seconds;
        wire_bytes = add_saturating(wire_bytes, redistribution.wire_bytes_total);
        collectives += redistribution.collectives;
    }
    void add(const PlanCost& other) {
        seconds += other.seconds;
        wire_bytes = add_saturating(wire_bytes, other.wire_bytes);
        collectives += other.collectives;
        flops = add_saturating(flops, other.flops);
        local_bytes += other.local_bytes;
    }
};

// By what is preferred, memory by what a device reads and writes; then seconds. Those that differ by rounding alone are
// equal.
inline bool cheaper(const PlanCost& a, const PlanCost& b, Prefer prefer = Prefer::time) {
    if (prefer == Prefer::bytes && a.wire_bytes != b.wire_bytes) return a.wire_bytes < b.wire_bytes;
    if (prefer == Prefer::compute && a.flops != b.flops) return a.flops < b.flops;
    if (prefer == Prefer::memory && a.local_bytes != b.local_bytes) return a.local_bytes < b.local_bytes;
    const double close = 1e-9 * (a.seconds + b.seconds);
    if (a.seconds < b.seconds - close) return true;
    if (b.seconds < a.seconds - close) return false;
    if (a.wire_bytes != b.wire_bytes) return a.wire_bytes < b.wire_bytes;
    if (a.collectives != b.collectives) return a.collectives < b.collectives;
    if (a.flops != b.flops) return a.flops < b.flops;
    return a.local_bytes < b.local_bytes;
}

} // namespace shard
