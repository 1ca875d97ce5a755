#include "planner/overrides.h"

#include <fmt/format.h>

#include <map>

namespace shard {

namespace {

std::string_view without_binding(std::string_view path) { return path.substr(0, path.find('#')); }

bool applies(const Override& override, const OverrideTarget& target) {
    if (target.path.empty()) return false;
    if (override.glob.find('#') != std::string::npos) return glob_matches(override.glob, target.path);
    return !target.hidden && glob_matches(override.glob, without_binding(target.path));
}

void warn_without_effect(const Override& override, const std::vector<OverrideTarget>& targets, std::string_view section,
                         Diagnostics& diagnostics) {
    std::vector<std::string_view> names;
    for (const OverrideTarget& target : targets)
        if (!target.path.empty() && !target.hidden) names.push_back(without_binding(target.path));
    DiagnosticBuilder warning = diagnostics.warning(
        "W0301", override.span, fmt::format("the pattern '{}' matches none of the {}", override.glob, section));
    const std::string_view near = nearest(override.glob, names);
    if (!near.empty()) warning.help(fmt::format("did you mean '{}'?", near));
}

} // namespace

std::vector<int> match_overrides(std::span<const Override> overrides, const std::vector<OverrideTarget>& targets,
                                 std::string_view section, Diagnostics& diagnostics) {
    std::vector<int> chosen(targets.size(), -1);
    for (size_t o = 0; o < overrides.size(); ++o) {
        bool matched = false;
        for (size_t t = 0; t < targets.size(); ++t) {
            if (!applies(overrides[o], targets[t])) continue;
            chosen[t] = static_cast<int>(o);
            matched = true;
        }
        if (!matched) warn_without_effect(overrides[o], targets, section, diagnostics);
    }
    return chosen;
}

std::vector<OverrideTarget> value_targets(const Graph& graph) {
    std::vector<OverrideTarget> targets(graph.values.size());
    std::map<std::string, size_t, std::less<>> last; // by name without binding
    for (size_t v = 0; v < graph.values.size(); ++v) {
        if (graph.values[v].producer < 0) continue;
        const std::string& path = graph.values[v].name;
        const auto [earlier, added] = last.emplace(without_binding(path), v);
        if (!added) targets[earlier->second].hidden = true;
        earlier->second = v;
        targets[v].path = path;
    }
    return targets;
}

} // namespace shard
