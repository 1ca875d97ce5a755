// The partition pass: Graph + shardings -> the local graph (reference/partitioning.md). For every op a compute sharding
// is chosen by the objective (seconds, wire bytes, collectives, op order); operands are resharded by the cheapest
// sequence of slice, all_gather, all_to_all, collective_permute; partial results are reduced as late as is valid.
// Values keep their propagated sharding. Then `optimize` rewrites the local graph (reduce_scatter, reuse of reshards).
#pragma once

#include "planner/propagate.h"
#include "plans/hardware.h"

namespace shard {

// One step of a redistribution: a collective, or a local slice (no collective; axes are added to a dim).
struct RedistributionStep {
    std::optional<Collective> collective;
    AxisMove slice; // used if there is no collective: {to, axes}
};
struct Redistribution {
    std::vector<RedistributionStep> steps;
    double seconds = 0;
    i64 wire_bytes_total = 0;
    int collectives = 0;
};
// The cheapest way from one closed sharding to another of the same global type; `from` may be partial (then it ends in
// all_reduce or reduce_scatter as suits). Never needs more memory than the larger end where such a sequence exists.
Redistribution redistribute(const Mesh& mesh, const Hardware& hardware, const TensorType& global, const Sharding& from,
                            const Sharding& to);
// The next best alternatives, for explain; cheapest first, the chosen one included.
std::vector<Redistribution> redistribution_alternatives(const Mesh& mesh, const Hardware& hardware,
                                                        const TensorType& global, const Sharding& from,
                                                        const Sharding& to, int limit);

struct Local {
    Graph graph; // local types; Value::sharding and global_shape filled in
    std::vector<ValueId>
        value_of; // global ValueId -> the local value that holds it in its propagated sharding; -1 if none has to
};
Local partition(const Graph& graph, const Mesh& mesh, const Hardware& hardware, const Propagation& propagation);
void optimize(Local& local); // simplify_reshards, then fuses pointwise kernels
// Equal reshards become one, reductions that are only sliced become reduce_scatters, and what nobody reads goes. Every
// compute node still is one op.
void simplify_reshards(Local& local);
// Invariants of the local graph: kernels and collectives fit their types, values' shardings follow from sharding_after,
// outputs not partial.
void verify_local(const Local& local, const Mesh& mesh);

} // namespace shard
