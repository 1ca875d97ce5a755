// Attention that goes another way than the partitioner's own: written into the graph between propagation and partition.
#pragma once

#include "planner/attention/split_attention.h"

namespace shard {

// Each attention as the way of its number says, which is possible for it. What the seeds say of values and nodes follows;
// shardings are to be propagated once more.
void rewrite_attention(Graph& graph, Seeds& seeds, const Mesh& mesh, const std::vector<SplitAttention>& attentions,
                       const std::vector<SequenceWay>& ways, const Shardings& shardings);

} // namespace shard
