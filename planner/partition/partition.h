// The partition pass: Graph + shardings -> the local graph (docs/partitioning.md). For every op a compute sharding
// is chosen by the objective (seconds, wire bytes, collectives, op order); operands are resharded by the cheapest
// sequence of slice, all_gather, all_to_all, collective_permute; partial results are reduced as late as is valid.
// Values keep their propagated sharding. Then `optimize` rewrites the local graph (reduce_scatter, reuse of reshards).
#pragma once

#include "planner/partition/local.h"
#include "planner/propagate/propagate.h"
#include "plans/collective/hardware.h"

namespace shard {

Local partition(const Graph& graph, const Mesh& mesh, const Hardware& hardware, const Propagation& propagation);

} // namespace shard
