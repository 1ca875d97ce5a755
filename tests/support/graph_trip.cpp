#include "tests/support/graph_trip.h"

#include "planner/graph_text/graph_parse.h"
#include "planner/pipeline/graph_pass.h"
#include "tests/support/prove.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

// The first line in which two texts differ.
std::string difference(std::string_view a, std::string_view b) {
    const auto line = [](std::string_view text, size_t at) {
        const size_t begin = text.rfind('\n', at == 0 ? 0 : at - 1) + 1;
        return std::string(text.substr(begin, text.find('\n', at) - begin));
    };
    const size_t at = static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
    return fmt::format("\"{}\" and \"{}\"", line(a, at), line(b, std::min(at, b.size())));
}

std::optional<GraphState> read_back(Sources& sources, const std::string& text, std::string& problem) {
    Diagnostics diagnostics;
    const int file = sources.add("graph", text);
    std::optional<GraphState> state = parse_graph(sources, file, diagnostics);
    if (!state) problem = text_of(sources, diagnostics);
    return state;
}

// The passes that need nothing but a text; partition, overlap and combine choose by the hardware and by what the layout
// prefers, and propagate too by whose choices it follows, which are in no text.
bool runs_on_text(const Compilation& c, const PassDef& pass) {
    if (pass.name == "partition" && c.layout->prefer != Prefer::time) return false;
    if ((pass.name == "partition" || pass.name == "propagate") && c.layout->partitioner != Partitioner::shardc)
        return false;
    if (pass.name == "partition" || pass.name == "overlap" || pass.name == "combine")
        return c.layout->hardware == "uniform";
    if (pass.name == "propagate") return !c.model->xla_compat; // which is in no text either
    return pass.name == "optimize" || pass.name == "order" || pass.name == "land";
}

} // namespace

std::vector<std::string> graph_trip_problems(Sources sources, const PlanRequest& request, int* trips) {
    std::vector<std::string> problems;
    Compilation c;
    std::optional<GraphState> before; // what was read back of the text after the pass before
    bool is_closed = false;
    for (const PassDef& pass : request.passes) {
        pass.run(c, request, sources);
        if (c.diagnostics.has_error()) break;
        is_closed = is_closed || pass.name == "grad";
        const std::optional<GraphState> state = graph_state(c);
        if (!state || !is_closed) continue;
        const GraphTextOptions options{&sources, true};
        const std::string text = graph_text(*state, options);
        if (before && runs_on_text(c, pass)) {
            Diagnostics diagnostics;
            const std::optional<GraphState> made = run_pass(pass, *before, diagnostics);
            if (!made)
                problems.push_back(
                    fmt::format("{} refuses what was read: {}", pass.name, text_of(sources, diagnostics)));
            else if (const std::string other = graph_text(*made, options); other != text)
                problems.push_back(
                    fmt::format("{} makes other things of what was read: {}", pass.name, difference(text, other)));
        }
        std::string problem;
        before = read_back(sources, text, problem);
        if (!before) {
            problems.push_back(fmt::format("after {}: {}", pass.name, problem));
            break;
        }
        if (trips != nullptr) ++*trips;
        if (const std::string again = graph_text(*before, options); again != text)
            problems.push_back(fmt::format("after {}: {}", pass.name, difference(text, again)));
    }
    return problems;
}

} // namespace shard
