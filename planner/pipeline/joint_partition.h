// Ways to partition that are told apart by the step that they make, overlap included: ops that decide together
// (planner/partition/joint_forms.h) and each alone; values behind a sum whole, and split until an op needs them whole
// (planner/partition/spread.h).
#pragma once

#include "planner/model/layout.h"
#include "planner/partition/partition.h"

namespace shard {

struct Partitioned {
    Local local;
    JointForms joint; // what was decided together for it
};

// With these shardings. Deciding together never makes a plan that its own price says is slower.
Partitioned partition_jointly(const Graph& graph, const Propagation& propagation, const Layout& layout,
                              const Hardware& hardware);

// Splits what is faster so, in `propagation`, and partitions with it.
Partitioned spread_jointly(const Graph& graph, const Seeds& seeds, Propagation& propagation, const Layout& layout,
                           const Hardware& hardware);

} // namespace shard
