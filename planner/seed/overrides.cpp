#include "planner/seed/overrides.h"

#include "planner/graph/binding.h"
#include "planner/seed/near_pattern.h"

#include <fmt/format.h>

#include <functional>

namespace shard {

namespace {

MeantPaths paths_of(const std::vector<OverrideTarget>& targets) {
    std::vector<std::string> paths;
    std::vector<bool> hidden;
    for (const OverrideTarget& target : targets) {
        paths.push_back(target.path);
        hidden.push_back(target.hidden);
    }
    return {std::move(paths), hidden};
}

void warn_without_effect(const Override& override, const MeantPaths& paths, bool compares, std::string_view section,
                         Diagnostics& diagnostics) {
    DiagnosticBuilder warning = diagnostics.warning(
        "W0301", override.span, fmt::format("the pattern '{}' matches none of the {}", override.glob, section));
    if (!compares) return;
    std::vector<std::string> there;
    for (const std::string& name : paths.last())
        if (!name.empty()) there.push_back(name);
    constexpr size_t most_listed = 12;
    const bool listed = !there.empty() && there.size() <= most_listed;
    warning.help(near_pattern(override.glob, there,
                              listed ? fmt::format("there are {}", fmt::join(there, ", ")) : std::string()));
}

// As match_overrides; `without_effect` is told of those that match nothing.
std::vector<int> chosen_overrides(std::span<const Override> overrides, const std::vector<OverrideTarget>& targets,
                                  const std::function<void(const Override&, const MeantPaths&)>& without_effect) {
    std::vector<int> chosen(targets.size(), -1);
    if (overrides.empty()) return chosen;
    const MeantPaths paths = paths_of(targets);
    for (size_t o = 0; o < overrides.size(); ++o) {
        const std::vector<size_t> meant = paths.meant_by(overrides[o].glob);
        for (const size_t t : meant) chosen[t] = static_cast<int>(o);
        if (meant.empty()) without_effect(overrides[o], paths);
    }
    return chosen;
}

} // namespace

std::vector<int> match_overrides(std::span<const Override> overrides, const std::vector<OverrideTarget>& targets,
                                 std::string_view section, Diagnostics& diagnostics) {
    constexpr int most_compared = 100; // of those that mean nothing, with what there is
    int unmatched = 0;
    return chosen_overrides(overrides, targets, [&](const Override& override, const MeantPaths& paths) {
        warn_without_effect(override, paths, ++unmatched <= most_compared, section, diagnostics);
    });
}

std::vector<bool> overridden_declarations(const Graph& graph, const Layout& layout) {
    std::vector<bool> overridden(graph.values.size());
    for (const bool of_inputs : {true, false}) {
        std::vector<OverrideTarget> targets;
        std::vector<ValueId> ids;
        for (ValueId id : graph.inputs) {
            if ((graph.value(id).role == Role::input) != of_inputs) continue; // variables are declared as parameters
            targets.push_back({graph.value(id).name});
            ids.push_back(id);
        }
        const std::vector<int> chosen = chosen_overrides(of_inputs ? layout.inputs : layout.params, targets,
                                                         [](const Override&, const MeantPaths&) { /* seed says it */ });
        for (size_t i = 0; i < ids.size(); ++i) overridden[ids[i]] = chosen[i] >= 0;
    }
    return overridden;
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
