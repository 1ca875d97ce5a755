// What later passes make of shardings that one before them tries, so that ways are told apart by what comes of them.
#pragma once

#include "planner/pipeline/attention_ways.h"

namespace shard {

// Who prices a way, and by what.
struct Pricing {
    const Layout& layout;
    ComputeDecisions& decisions;
};

// The passes `gradients` and `reads`: seeds and what they propagate to become others if the step is faster by a percent,
// each op deciding alone.
void follow_gradients(const Graph& graph, Seeds& seeds, Propagation& propagation, Pricing pricing);
void follow_readers(const Graph& graph, Seeds& seeds, Propagation& propagation, Pricing pricing);

// The passes from `gradients` to `reads`, but `scans`.
void follow_all(PropagatedGraph& made, Pricing pricing);

} // namespace shard
