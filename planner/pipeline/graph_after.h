// The graph as it is between two passes, as a text.
#pragma once

#include "planner/pipeline/compilation.h"

#include <optional>
#include <string>
#include <string_view>

namespace shard {

// Compiles as far as the pass, and writes the graph that is there then: a line with the pass and what holds after it,
// then planner/graph_text/graph_text.h, with details or without. "all": one such text for each pass that has a graph,
// numbered; where a pass changed nothing a line says so. nullopt, with what is wrong in `diagnostics`: the files have
// an error before that pass, there is no such pass (E0706), or no graph after it (E0701).
std::optional<std::string> graph_after(const Sources& sources, const PlanRequest& request, std::string_view pass,
                                       bool details, Diagnostics& diagnostics);

} // namespace shard
