#include "planner/graph_text/graph_parse.h"

#include "planner/graph_text/graph_reader.h"

namespace shard {

std::optional<GraphState> parse_graph(const Sources& sources, int file, Diagnostics& diagnostics) {
    return GraphReader(sources, file, diagnostics).read();
}

} // namespace shard
