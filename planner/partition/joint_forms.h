// What ops that stand beside each other decide together. An op by itself pays all of a gather that its neighbours could
// use too, and reduces a sum that its reader adds to others: then each finds a way of its own that is cheaper for it
// and dearer for all.
//
//     q, k, v = x wq, x wk, x wv     x split over tokens, the results over heads: x is gathered once, for the three
//     (a + b) + c, each a sum        over a split dim: each is left partial, and one all_reduce follows the last add
//
// Prices are those of the ops and of the ways between their shardings; what runs at the same time is not seen, so who
// asks compares the plans (planner/pipeline/joint_partition.h).
#pragma once

#include "planner/partition/compute_decisions.h"
#include "planner/partition/local.h"

#include <map>

namespace shard {

struct JointForms {
    std::map<ValueId, Sharding> shared; // a form that the value's readers have in common, beside the kept one
    std::map<ValueId, Sharding> sums;   // a partial form in which what makes the value leaves it to its only reader

    bool empty() const { return shared.empty() && sums.empty(); }
};

// Those that together cost less than what every op chooses alone, of which `alone` was made: nobody is asked again who
// sends nothing.
JointForms joint_forms(const Graph& graph, const Propagation& propagation, ComputeDecisions& decisions,
                       const Local& alone);

} // namespace shard
