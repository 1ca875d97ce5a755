#include "planner/partition/partition.h"

#include "planner/partition/partitioner.h"

namespace shard {

Local partition(const Graph& graph, const Propagation& propagation, ComputeDecisions& decisions,
                const JointForms& joint) {
    NumberedDecisions numbered(decisions);
    return partition(graph, GraphFacts(graph), propagation, numbered, joint);
}

std::vector<ComputeSharding> compute_ways(const Graph& graph, const Propagation& propagation,
                                          ComputeDecisions& decisions, const JointForms& joint, NodeId node) {
    NumberedDecisions numbered(decisions);
    return compute_ways(graph, GraphFacts(graph), propagation, numbered, joint, node);
}

} // namespace shard
