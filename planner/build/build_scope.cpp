#include "planner/build/build_scope.h"

#include "planner/text/number_spelling.h"
#include "plans/diagnostics/suggestion.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace shard {

namespace {

// There is one of it in every trip, and none afterwards.
bool is_of_closed_loop(const Graph& graph, ValueId id) {
    const int loop = graph.value(id).loop;
    return loop >= 0 && graph.loops[loop].closes >= 0;
}

} // namespace

std::string Scope::full(std::string_view name) const {
    return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
}

std::optional<ValueId> Scope::find(std::string_view name, const Graph& graph) const {
    const size_t hash = name.find('#');
    const std::map<std::string, std::vector<ValueId>, std::less<>>::const_iterator it =
        bindings_.find(name.substr(0, hash));
    if (it != bindings_.end()) {
        if (hash == std::string_view::npos) return it->second.back();
        size_t number = 0;
        std::from_chars(name.data() + hash + 1, name.data() + name.size(), number);
        if (number >= 1 && number <= it->second.size()) return it->second[number - 1];
        return std::nullopt;
    }
    const std::optional<ValueId> value = at_path(name, graph);
    return value && graph.value(*value).region == region_ && !is_of_closed_loop(graph, *value) ? value : std::nullopt;
}

std::optional<ValueId> Scope::at_path(std::string_view name, const Graph& graph) const {
    constexpr std::string_view numbers_begin = "+-.0123456789"; // 0.5 is no path
    if (name.find('.') == std::string_view::npos || numbers_begin.find(name.front()) != std::string_view::npos)
        return std::nullopt;
    std::optional<ValueId> value = find_value(graph, full(name));
    if (!value && seen_)
        value = find_value(graph, seen_->empty() ? std::string(name) : fmt::format("{}.{}", *seen_, name));
    // What a module declares of its gradient is seen there only.
    if (value && !seen_ && is_of_pattern(graph, *value)) return std::nullopt;
    return value;
}

BuiltValues Scope::find_all(const std::vector<Name>& names, const Graph& graph, Diagnostics& diagnostics) const {
    std::vector<ValueId> values;
    for (const Name& name : names) {
        const std::optional<ValueId> value = find(name.text, graph);
        if (!value) report_unknown(name, graph, diagnostics);
        if (value && *value != poisoned) values.push_back(*value);
    }
    return values.size() == names.size() ? BuiltValues(std::move(values)) : std::nullopt;
}

void Scope::report_unknown(const Name& name, const Graph& graph, Diagnostics& diagnostics,
                           std::span<const AxisDecl> axes) const {
    DiagnosticBuilder error = diagnostics.error("E0222", name.span, fmt::format("'{}' is not defined here", name.text));
    // Every name is compared with all others: in a file of very many mistakes the first ones have words of their own.
    if (constexpr int most_compared = 100; diagnostics.error_count() > most_compared) return;
    std::vector<std::string_view> candidates;
    for (const auto& [candidate, values] : bindings_) candidates.push_back(candidate);
    for (const Entry& entry : *entries_)
        for (const Name& result : entry.results)
            if (result.text == name.text) {
                error.label(result.span, "defined here")
                    .help(fmt::format("'{}' is defined later, at line {}: move that entry up", name.text,
                                      result.span.line));
                return;
            }
    if (const std::optional<ValueId> other = at_path(name.text, graph)) {
        const Value& value = graph.value(*other);
        if (is_of_closed_loop(graph, *other)) {
            error.label(value.span, "made anew in every trip of a loop")
                .help("let it be an output of the block, or leave `scan: true` away");
            return;
        }
        error.label(value.span, value.region < 0 ? "a whole value" : "what one device of a manual region has")
            .help(value.region < 0 ? "let it enter the region: `in` says how it is split"
                                   : "let it leave the region: `out` says how it is put together");
        return;
    }
    if (std::any_of(axes.begin(), axes.end(), [&](const AxisDecl& axis) { return axis.name.text == name.text; })) {
        error.help(
            fmt::format("'{0}' is an axis; its size as a value is written {{constant: {0}, dtype: i32}}", name.text));
        return;
    }
    if (const std::string number = number_spelling_help(name.text); !number.empty())
        error.help(number);
    else if (region_ >= 0)
        error.help(did_you_mean(name.text, candidates,
                                "the body of a manual region sees what its `in` lists and its own results"));
    else if (constexpr size_t most_listed = 12; !candidates.empty() && candidates.size() <= most_listed)
        error.help(did_you_mean(name.text, candidates, fmt::format("defined here: {}", fmt::join(candidates, ", "))));
    else
        error.help(did_you_mean(name.text, candidates));
}

} // namespace shard
