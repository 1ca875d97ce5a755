#include "tests/support/read_graph.h"

#include "planner/graph_text/graph_parse.h"
#include "tests/support/prove.h"

namespace shard {

GraphState read_graph(const std::string& text) {
    Sources sources;
    Diagnostics diagnostics;
    std::optional<GraphState> state = parse_graph(sources, sources.add("graph", text), diagnostics);
    if (!state) internal_error(text_of(sources, diagnostics));
    return std::move(*state);
}

} // namespace shard
