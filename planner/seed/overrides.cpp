#include "planner/seed/overrides.h"

#include "planner/graph/binding.h"
#include "planner/seed/near_pattern.h"

#include <fmt/format.h>

namespace shard {

namespace {

bool applies(const Override& override, const OverrideTarget& target) {
    return means(override.glob, target.path, target.hidden);
}

void warn_without_effect(const Override& override, const std::vector<OverrideTarget>& targets, std::string_view section,
                         Diagnostics& diagnostics) {
    std::vector<std::string> names;
    for (const OverrideTarget& target : targets)
        if (!target.path.empty() && !target.hidden) names.push_back(without_binding(target.path));
    DiagnosticBuilder warning = diagnostics.warning(
        "W0301", override.span, fmt::format("the pattern '{}' matches none of the {}", override.glob, section));
    constexpr size_t most_listed = 12;
    const bool listed = !names.empty() && names.size() <= most_listed;
    warning.help(near_pattern(override.glob, names,
                              listed ? fmt::format("there are {}", fmt::join(names, ", ")) : std::string()));
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
    std::vector<OverrideTarget> targets(graph.values.size() + graph.aliases.size());
    const auto is_result = [&graph](ValueId id) { return graph.value(id).producer >= 0; };
    for (size_t v = 0; v < graph.values.size(); ++v)
        if (is_result(static_cast<ValueId>(v))) targets[v].path = graph.values[v].name;
    for (size_t a = 0; a < graph.aliases.size(); ++a)
        if (is_result(graph.aliases[a].second)) targets[graph.values.size() + a].path = graph.aliases[a].first;
    std::vector<std::string> paths;
    for (const OverrideTarget& target : targets) paths.push_back(target.path);
    const std::vector<bool> again = bound_again(paths);
    for (size_t t = 0; t < targets.size(); ++t) targets[t].hidden = again[t];
    return targets;
}

} // namespace shard
