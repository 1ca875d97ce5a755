// Numbers that are added up, such as what every gradient gives to the norm of all, are added in groups: first those that
// devices have parts of over the same axes, then the sums of the groups. A group takes one all_reduce, where a chain in
// the order as written takes one wherever the axes change:
//
//     ((a over data + b over model) + c over data) + d over model     4 all_reduces
//     (a over data + c over data) + (b over model + d over model)     2
#pragma once

#include "planner/graph/graph.h"

namespace shard {

// Of scalars that one entry of the model adds up, whose sums on the way nobody knows by name. Nodes stay where they are
// and read others. `values`: the shardings, by ValueId.
void group_sums(Graph& graph, std::span<const Sharding> values);

} // namespace shard
