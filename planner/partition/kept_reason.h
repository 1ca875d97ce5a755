// Why a value is kept otherwise than it is made: a constraint reads it so, or propagation found it best.
#pragma once

#include "planner/partition/causes.h"

namespace shard {

// users[value] are its readers; shardings by value, as they are kept.
Reason kept_reason(const Mesh& mesh, const Graph& graph, const std::vector<std::vector<NodeId>>& users,
                   std::span<const Sharding> shardings, const Node& node, const Sharding& made);

} // namespace shard
