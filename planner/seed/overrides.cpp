#include "planner/seed/overrides.h"

#include "planner/graph/binding.h"
#include "planner/seed/near_pattern.h"
#include "planner/text/glob.h"

#include <fmt/format.h>

#include <map>

namespace shard {

namespace {

// What patterns are compared with, and where the names are that a pattern without `*` means.
struct Names {
    const std::vector<OverrideTarget>& targets;
    std::vector<std::string> plain;                                      // without bindings; empty where hidden
    std::map<std::string, std::vector<size_t>, std::less<>> whole, last; // by path; by name without binding

    explicit Names(const std::vector<OverrideTarget>& of) : targets(of), plain(of.size()) {
        for (size_t t = 0; t < targets.size(); ++t) {
            if (targets[t].path.empty()) continue;
            whole[targets[t].path].push_back(t);
            if (targets[t].hidden) continue;
            plain[t] = without_binding(targets[t].path);
            last[plain[t]].push_back(t);
        }
    }

    std::vector<size_t> meant_by(std::string_view glob) const {
        const bool with_binding = glob.find('#') != std::string_view::npos;
        if (!is_glob(glob)) {
            const auto& names = with_binding ? whole : last;
            const auto found = names.find(glob);
            return found == names.end() ? std::vector<size_t>() : found->second;
        }
        std::vector<size_t> meant;
        for (size_t t = 0; t < targets.size(); ++t) {
            const std::string& name = with_binding ? targets[t].path : plain[t];
            if (!name.empty() && glob_matches(glob, name)) meant.push_back(t);
        }
        return meant;
    }
};

void warn_without_effect(const Override& override, const Names& names, bool compares, std::string_view section,
                         Diagnostics& diagnostics) {
    DiagnosticBuilder warning = diagnostics.warning(
        "W0301", override.span, fmt::format("the pattern '{}' matches none of the {}", override.glob, section));
    if (!compares) return;
    std::vector<std::string> there;
    for (const std::string& name : names.plain)
        if (!name.empty()) there.push_back(name);
    constexpr size_t most_listed = 12;
    const bool listed = !there.empty() && there.size() <= most_listed;
    warning.help(near_pattern(override.glob, there,
                              listed ? fmt::format("there are {}", fmt::join(there, ", ")) : std::string()));
}

} // namespace

std::vector<int> match_overrides(std::span<const Override> overrides, const std::vector<OverrideTarget>& targets,
                                 std::string_view section, Diagnostics& diagnostics) {
    constexpr int most_compared = 100; // of those that mean nothing, with what there is
    std::vector<int> chosen(targets.size(), -1);
    if (overrides.empty()) return chosen;
    const Names names(targets);
    int unmatched = 0;
    for (size_t o = 0; o < overrides.size(); ++o) {
        const std::vector<size_t> meant = names.meant_by(overrides[o].glob);
        for (const size_t t : meant) chosen[t] = static_cast<int>(o);
        if (meant.empty()) warn_without_effect(overrides[o], names, ++unmatched <= most_compared, section, diagnostics);
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
