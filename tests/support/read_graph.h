// Graphs of tests that are written as texts (planner/graph_text/graph_text.h).
#pragma once

#include "planner/graph_text/graph_text.h"

namespace shard {

GraphState read_graph(const std::string& text); // an internal error, with what is wrong, if it cannot be read

} // namespace shard
