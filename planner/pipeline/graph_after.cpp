#include "planner/pipeline/graph_after.h"

#include "planner/pipeline/graph_pass.h"
#include "planner/pipeline/pipeline.h"
#include "plans/diagnostics/suggestion.h"

#include <fmt/format.h>

namespace shard {

namespace {

// nullopt if there is no graph, or an error is there.
std::optional<std::string> text_of(Sources sources, PlanRequest request, size_t pass, bool details,
                                   Diagnostics& diagnostics) {
    request.passes = all_passes().first(pass + 1);
    const Compilation c = compile(sources, request);
    if (c.diagnostics.has_error()) {
        diagnostics = c.diagnostics;
        return std::nullopt;
    }
    const std::optional<GraphState> state = graph_state(c);
    return state ? std::optional(graph_text(*state, {&sources, details})) : std::nullopt;
}

std::string head(const PassDef& pass) { return fmt::format("after {}: {}\n", pass.name, pass.holds); }

std::optional<std::string> all_texts(const Sources& sources, const PlanRequest& request, bool details,
                                     Diagnostics& diagnostics) {
    std::string out, before;
    for (size_t p = 0, number = 0; p < all_passes().size(); ++p) {
        const std::optional<std::string> text = text_of(sources, request, p, details, diagnostics);
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
                                       bool details, Diagnostics& diagnostics) {
    if (pass == "all") return all_texts(sources, request, details, diagnostics);
    const PassDef* const found = find_pass(pass);
    if (found == nullptr) {
        std::vector<std::string_view> names;
        for (const PassDef& each : all_passes()) names.push_back(each.name);
        diagnostics.error("E0706", {}, fmt::format("there is no pass '{}'", pass))
            .help(did_you_mean(pass, names, "`shardc list passes` shows what there is"));
        return std::nullopt;
    }
    const size_t index = found - all_passes().data();
    const std::optional<std::string> text = text_of(sources, request, index, details, diagnostics);
    if (text) return head(*found) + "\n" + *text;
    if (!diagnostics.has_error())
        diagnostics.error("E0701", {}, fmt::format("after '{}' there is no graph", pass))
            .help("the passes from build to land have one; `shardc plan -o FILE` writes what later ones make");
    return std::nullopt;
}

} // namespace shard
