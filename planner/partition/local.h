// The local graph: what every device computes, and how it stands for the global graph.
#pragma once

#include "planner/graph/graph.h"

namespace shard {

// A value that is gathered whole on its way from one sharding to another (planner/redistribute/xla_reshard.h).
struct FullGather {
    ValueId value = -1;
    NodeId node = -1; // of the global graph, for which; -1: an input that is returned
    Sharding from, to;
};

struct Local {
    Graph graph; // local types; Value::part is filled in
    // By global ValueId, the local value that holds it in its propagated sharding; -1 if none has to.
    std::vector<ValueId> value_of;
    // Global NodeId -> bytes that all devices send so that the node is computed as it is.
    std::vector<i64> sent = {};
    std::vector<FullGather> full_gathers = {};
    bool apart = false; // no value is written over another, save what a loop carries and an update replaces, by copies
};

} // namespace shard
