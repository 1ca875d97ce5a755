// The local graph: what every device computes, and how it stands for the global graph.
#pragma once

#include "planner/graph/graph.h"

namespace shard {

struct Local {
    Graph graph; // local types; Value::part is filled in
    // By global ValueId, the local value that holds it in its propagated sharding; -1 if none has to.
    std::vector<ValueId> value_of;
    // Global NodeId -> bytes that all devices send so that the node is computed as it is.
    std::vector<i64> sent = {};
};

} // namespace shard
