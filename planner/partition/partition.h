// The partition pass: Graph + shardings -> the local graph (docs/partitioning.md). For every op a compute sharding
// is chosen by the objective (seconds, wire bytes, collectives; the first of equals); operands are resharded by the
// cheapest sequence of slice, all_gather, all_to_all, collective_permute; partial results are reduced as late as is
// valid.
// Values keep their propagated sharding. Then `optimize` rewrites the local graph (reduce_scatter, reuse of reshards).
#pragma once

#include "planner/partition/joint_forms.h"
#include "planner/partition/local.h"

namespace shard {

// With `joint` empty every op decides alone.
Local partition(const Graph& graph, const Propagation& propagation, ComputeDecisions& decisions,
                const JointForms& joint = {});

// Every way in which one node could be computed, best first, as the pass finds them when it comes to it. Not for
// constraints.
std::vector<ComputeSharding> compute_ways(const Graph& graph, const Propagation& propagation,
                                          ComputeDecisions& decisions, const JointForms& joint, NodeId node);

} // namespace shard
