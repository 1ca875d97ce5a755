// What joint_forms() (planner/partition/joint_forms.h) does, for who partitions a graph in several ways.
#pragma once

#include "planner/partition/joint_forms.h"
#include "planner/partition/numbered_decisions.h"

namespace shard {

// `facts`: of the graph.
JointForms joint_forms(const Graph& graph, const GraphFacts& facts, const Propagation& propagation,
                       NumberedDecisions& decisions, const Local& alone);

} // namespace shard
