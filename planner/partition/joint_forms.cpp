#include "planner/partition/joint_forms.h"

#include "planner/partition/joint_chooser.h"

namespace shard {

JointForms joint_forms(const Graph& graph, const Propagation& propagation, ComputeDecisions& decisions,
                       const Local& alone) {
    NumberedDecisions numbered(decisions);
    return joint_forms(graph, GraphFacts(graph), propagation, numbered, alone);
}

} // namespace shard
