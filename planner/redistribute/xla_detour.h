// How a user helps XLA's partitioner where it gathers everything: a sharding in between, which a constraint asks for.
//
//     {a: 4, b: 2}, [b | - | a] -> [- | a,b | -]:  by way of [b | a | -], which one all-to-all reaches, and from which
//     another one goes on
#pragma once

#include "planner/redistribute/xla_reshard.h"

namespace shard {

struct XlaDetour {
    Sharding through;
    i64 wire_bytes_total = 0; // both ways of it
};

// Of the shardings that the cheapest sequence of steps passes, the one by which XLA sends least; nullopt if it sends no
// less by any.
std::optional<XlaDetour> xla_detour(const Mesh& mesh, const Hardware& hardware, const TensorType& global,
                                    const Sharding& from, const Sharding& to);

} // namespace shard
