// What `partition` (planner/partition/partition.h) does, for who makes several partitions of a graph.
#pragma once

#include "planner/partition/numbered_decisions.h"
#include "planner/partition/partition.h"

namespace shard {

// `facts`: of the graph.
Local partition(const Graph& graph, const GraphFacts& facts, const Propagation& propagation,
                NumberedDecisions& decisions, const JointForms& joint);
std::vector<ComputeSharding> compute_ways(const Graph& graph, const GraphFacts& facts, const Propagation& propagation,
                                          NumberedDecisions& decisions, const JointForms& joint, NodeId node);

} // namespace shard
