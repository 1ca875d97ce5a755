// The forms in which the local graph holds a value of the graph while `partition` makes it.
#pragma once

#include "planner/partition/compute_sharding.h"

namespace shard {

struct Held {
    ValueId kept = -1;            // in its propagated sharding
    std::vector<ValueId> reduced; // every form that is not partial, kept included, in the order made
    ValueId pending = -1;         // a partial form that has not been reduced
    Reason why_pending;
    int readers = 0; // nodes that read it, and outputs
};

// What an op that reads the value now can start from. The kept form is first, so that it is taken where costs are equal.
// `kept`: its propagated sharding; forms are values of `local`.
OperandChoice choice_of(const Held& held, const TensorType& type, const Sharding& kept, const Graph& local,
                        Redistributor& redistributor);

} // namespace shard
