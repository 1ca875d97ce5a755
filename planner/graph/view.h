// Small questions about a graph that several passes ask.
#pragma once

#include "planner/graph/graph.h"

#include <vector>

namespace shard {

// A reshape shows the bytes of its operand and is no step.
bool is_view(const Graph& graph, const Node& node);

// Which of graph.updates each output is, by output; -1: none.
std::vector<int> updates_by_output(const Graph& graph);

bool has_reduction(const Graph& graph, const Node& node); // among the factors of its rule

} // namespace shard
