// Which nodes sum up a parameter's gradient: the contraction over the batch that makes it, or each of several whose
// results are added, reshaped or cast into it.
//
// Where the batch is split, every device sums over its own part and the parts are reduced, also where the batch is so
// small that sending it to every device would take less time. That is what data parallelism means to people, and only a
// partial sum can be added up over microbatches before it is reduced.
#pragma once

#include "planner/graph.h"

namespace shard {

// By node; in loops, those too that such a sum may pass through on its way to be added up over the trips.
std::vector<bool> gradient_sums(const Graph& graph);

bool has_reduction(const Graph& graph, const Node& node); // among the factors of its rule

} // namespace shard
