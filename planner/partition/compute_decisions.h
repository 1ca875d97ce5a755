// How ops are computed, with a memory: layers repeat, neighbours ask for one another, and plans of one model on one mesh
// have most in common. Several threads may ask at once.
#pragma once

#include "planner/partition/compute_sharding.h"

#include <functional>

namespace shard {

// A decision for one op on these types and shardings, and its rule.
struct ComputeDecision {
    IndexRule rule;
    ComputeSharding choice;
};

class ComputeDecisions {
public:
    ComputeDecisions(const Mesh& mesh, const Hardware& hardware, Prefer prefer = Prefer::time,
                     Partitioner partitioner = Partitioner::shardc)
        : redistributor_(mesh, hardware, prefer, partitioner) {}

    Redistributor& redistributor() { return redistributor_; }
    const Mesh& mesh() const { return redistributor_.mesh(); }
    const Hardware& hardware() const { return redistributor_.hardware(); }

    // Valid as long as this lives.
    const ComputeDecision& find(const ComputeQuery& query);

private:
    Redistributor redistributor_;
    Memo<ComputeDecision> decided_; // by memo_key
};

// What is asked for a node whose values are kept as `kept` and whose operands can be had as `choice_of` says; `sums` by
// node (planner/partition/gradient_sums.h).
ComputeQuery compute_query(const Graph& graph, NodeId node, std::span<const Sharding> kept,
                           const std::vector<bool>& sums, const std::function<OperandChoice(ValueId)>& choice_of);

} // namespace shard
