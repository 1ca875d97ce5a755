// The types of a node's operands or results, as its op asks for them.
#pragma once

#include "planner/graph/graph.h"

namespace shard {

inline std::vector<TensorType> types_of(const Graph& graph, std::span<const ValueId> values) {
    std::vector<TensorType> types;
    types.reserve(values.size());
    for (ValueId id : values) types.push_back(graph.value(id).type);
    return types;
}

} // namespace shard
