// The forms in which the local graph holds a value of the graph while `partition` makes it.
#pragma once

#include "planner/graph/graph.h"

namespace shard {

struct Held {
    ValueId kept = -1;            // in its propagated sharding
    std::vector<ValueId> reduced; // every form that is not partial, kept included, in the order made
    ValueId pending = -1;         // a partial form that has not been reduced
    Reason why_pending;
    int readers = 0; // nodes that read it, and outputs
};

} // namespace shard
