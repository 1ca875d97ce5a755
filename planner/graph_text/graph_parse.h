// Reads the text of a graph (planner/graph_text/graph_text.h) back: with details, of what is printed the same text is
// printed again, and a pass makes the same of it.
//
// Without them, what is usual is taken: a value of no role, the kernel that an op's types and shardings give. A kernel
// that was fused has to be there.
#pragma once

#include "planner/graph_text/graph_text.h"

namespace shard {

// Of a text in `sources`, in which the files that its lines name are looked up too. nullopt after E0508: the text is
// not one of a graph, or of none that a pass may be given.
std::optional<GraphState> parse_graph(const Sources& sources, int file, Diagnostics& diagnostics);

} // namespace shard
