// The partition pass, tried both ways: ops that decide together (planner/partition/joint_forms.h) and each alone.
#pragma once

#include "planner/partition/partition.h"

namespace shard {

// The local graph whose step takes less time, overlap included, and in `joint` what was decided together for it:
// deciding together never makes a plan that its own price says is slower.
Local partition_jointly(const Graph& graph, const Propagation& propagation, const Mesh& mesh, const Hardware& hardware,
                        JointForms& joint);

} // namespace shard
