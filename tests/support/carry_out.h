// A redistribution carried out step by step, by the collectives' own plain definitions.
#pragma once

#include "planner/partition/partition.h"
#include "planner/redistribute/redistribute.h"
#include "plans/collective/collective_data.h"

namespace shard {

// Carries out a sequence on data; returns the sharding at its end and the most local bytes of a state on the way.
struct Carried {
    DeviceBuffers buffers;
    Sharding sharding;
    i64 most_bytes = 0, wire_bytes = 0;
};
Carried carry_out(const Mesh& mesh, const Shape& shape, const Sharding& from, const Redistribution& redistribution);

} // namespace shard
