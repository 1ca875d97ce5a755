#include "planner/seed/overrides.h"

#include "planner/text/glob.h"
#include "plans/diagnostics/suggestion.h"

#include <fmt/format.h>

#include <charconv>
#include <map>

namespace shard {

namespace {

// "a#2" is a, and "a#2.softmax.exp" is a.softmax.exp.
std::string without_binding(std::string_view path) {
    std::string result;
    bool number = false;
    for (char c : path) {
        number = c == '#' || (number && c != '.');
        if (!number) result += c;
    }
    return result;
}

// "a" is the first binding, "a#3" the third.
i64 binding_of(std::string_view path) {
    const size_t hash = path.find('#');
    i64 number = 1;
    if (hash != std::string_view::npos) std::from_chars(path.data() + hash + 1, path.data() + path.size(), number);
    return number;
}

bool applies(const Override& override, const OverrideTarget& target) {
    if (target.path.empty()) return false;
    if (override.glob.find('#') != std::string::npos) return glob_matches(override.glob, target.path);
    return !target.hidden && glob_matches(override.glob, without_binding(target.path));
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
    warning.help(did_you_mean(override.glob, {names.begin(), names.end()},
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
    std::map<std::string, size_t, std::less<>> last; // by name without binding
    for (size_t t = 0; t < targets.size(); ++t) {
        if (targets[t].path.empty()) continue;
        const auto [other, added] = last.emplace(without_binding(targets[t].path), t);
        if (added) continue;
        const bool newer = binding_of(targets[t].path) > binding_of(targets[other->second].path);
        targets[newer ? other->second : t].hidden = true;
        if (newer) other->second = t;
    }
    return targets;
}

} // namespace shard
