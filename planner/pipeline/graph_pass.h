// A graph between two passes: as far as a compilation has come, or as a text says it (planner/graph_text), and then
// given to the next pass without those before.
#pragma once

#include "planner/graph_text/graph_text.h"
#include "planner/pipeline/passes.h"

namespace shard {

std::optional<GraphState> graph_state(const Compilation& compilation); // nullopt: there is none, or none any more

// What the pass makes of the graph, checked as ever. nullopt after the pass's own errors, or E0706: it is none of those
// from `propagate` to `land`, which need nothing but what a text says.
std::optional<GraphState> run_pass(const PassDef& pass, const GraphState& state, Diagnostics& diagnostics);

} // namespace shard
