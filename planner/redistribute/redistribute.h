// Redistribution: the collectives and slices that take a value from one sharding to another (docs/partitioning.md).
#pragma once

#include "plans/collective/collective.h"
#include "plans/collective/hardware.h"

#include <optional>

namespace shard {

// One step of a redistribution: a collective, or what each device does by itself.
struct RedistributionStep {
    std::optional<Collective> collective;
    // Without one: {to, axes}, the device's own block of the dim is sliced out; or {from, axes}, its block is put among
    // zeros, so that the whole dim is a sum over the axes.
    AxisMove slice;
};
Sharding sharding_after(const RedistributionStep& step, const Sharding& before);

struct Redistribution {
    std::vector<RedistributionStep> steps;
    double seconds = 0;
    i64 wire_bytes_total = 0;
    int collectives = 0;
    bool gathers_all = false; // no step fits: everything is gathered, and each device takes its part
};
// The cheapest way from one closed sharding to another of the same global type; `from` may be partial (then it ends in
// all_reduce or reduce_scatter as suits). Never needs more memory than the larger end where such a sequence exists.
Redistribution redistribute(const Mesh& mesh, const Hardware& hardware, const TensorType& global, const Sharding& from,
                            const Sharding& to);
// The next best alternatives, for explain; cheapest first, the chosen one included.
std::vector<Redistribution> redistribution_alternatives(const Mesh& mesh, const Hardware& hardware,
                                                        const TensorType& global, const Sharding& from,
                                                        const Sharding& to, int limit);

} // namespace shard
