#include "planner/pipeline/graph_after.h"

#include "planner/graph/graph_text.h"
#include "planner/pipeline/passes.h"
#include "planner/pipeline/pipeline.h"

#include <fmt/format.h>

namespace shard {

namespace {

std::vector<std::optional<Sharding>> known_shardings(const Compilation& c) {
    if (c.propagation) return {c.propagation->values.begin(), c.propagation->values.end()};
    if (c.seeds) return c.seeds->values;
    return {};
}

// nullopt if there is no graph, or an error is there.
std::optional<std::string> text_of(Sources sources, PlanRequest request, size_t pass, Diagnostics& diagnostics) {
    request.passes = all_passes().first(pass + 1);
    const Compilation c = compile(sources, request);
    if (c.diagnostics.has_error()) {
        diagnostics = c.diagnostics;
        return std::nullopt;
    }
    if (c.plan || !c.graph) return std::nullopt;
    const std::vector<std::optional<Sharding>> shardings = known_shardings(c);
    GraphTextOptions options;
    options.mesh = &c.layout->mesh;
    options.sources = &sources;
    if (c.local) return graph_text(c.local->graph, options);
    options.shardings = &shardings;
    return graph_text(*c.graph, options);
}

std::string head(const PassDef& pass) { return fmt::format("after {}: {}\n", pass.name, pass.holds); }

std::optional<std::string> all_texts(const Sources& sources, const PlanRequest& request, Diagnostics& diagnostics) {
    std::string out, before;
    for (size_t p = 0, number = 0; p < all_passes().size(); ++p) {
        const std::optional<std::string> text = text_of(sources, request, p, diagnostics);
        if (diagnostics.has_error()) return std::nullopt;
        if (!text) continue;
        out += fmt::format("{}{} {}", out.empty() ? "" : "\n", ++number, head(all_passes()[p]));
        out += *text == before ? std::string("(as before)\n") : "\n" + *text;
        before = *text;
    }
    return out;
}

} // namespace

std::optional<std::string> graph_after(const Sources& sources, const PlanRequest& request, std::string_view pass,
                                       Diagnostics& diagnostics) {
    if (pass == "all") return all_texts(sources, request, diagnostics);
    const PassDef* const found = find_pass(pass);
    if (found == nullptr) {
        std::vector<std::string_view> names;
        for (const PassDef& each : all_passes()) names.push_back(each.name);
        const std::string_view near = nearest(pass, names);
        diagnostics.error("E0706", {}, fmt::format("there is no pass '{}'", pass))
            .help(near.empty() ? std::string("`shardc list passes` shows what there is")
                               : fmt::format("did you mean '{}'?", near));
        return std::nullopt;
    }
    const size_t index = static_cast<size_t>(found - all_passes().data());
    const std::optional<std::string> text = text_of(sources, request, index, diagnostics);
    if (text) return head(*found) + "\n" + *text;
    if (!diagnostics.has_error())
        diagnostics.error("E0701", {}, fmt::format("after '{}' there is no graph", pass))
            .help("the passes from build to land have one; `shardc plan -o FILE` writes what later ones make");
    return std::nullopt;
}

} // namespace shard
