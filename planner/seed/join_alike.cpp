#include "planner/seed/join_alike.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <tuple>

namespace shard {

namespace {

constexpr std::string_view joined_codes[] = {"E0313", "W0310", "W0311"};
constexpr std::string_view same_everywhere = "E0314"; // says the same of every array: one error, with all places
constexpr size_t shown = 4;                           // names in a note

// "dim 0 (batch) of 'x' has size 8, ...": the dim's name and what is said of it, without the array's name.
struct Parts {
    std::string about, array, said;
};

Parts parts_of(const std::string& message) {
    const size_t of = message.find(" of "), has = message.find(" has size ");
    if (of == std::string::npos || has == std::string::npos || has < of) return {message, {}, {}};
    const size_t name = message.find('(');
    const std::string about = name < of ? message.substr(name, of - name) : "";
    return {about, message.substr(of + 4, has - of - 4), message.substr(has)};
}

void add_places(Diagnostic& joined, std::span<const Label> labels) {
    for (const Label& label : labels) {
        const bool is_there = std::any_of(joined.labels.begin(), joined.labels.end(),
                                          [&label](const Label& other) { return other.span == label.span; });
        if (!is_there) joined.labels.push_back({label.span, {}});
    }
}

} // namespace

Diagnostics join_alike(const Diagnostics& found) {
    std::vector<Diagnostic> kept;
    std::map<std::tuple<int, int, int, std::string, std::string>, size_t> first; // in `kept`
    std::map<size_t, std::vector<std::string>> others;
    std::map<std::string, size_t> said; // likewise, by message
    for (const Diagnostic& diagnostic : found.all()) {
        if (diagnostic.code == same_everywhere) {
            const auto [at, is_new] = said.try_emplace(diagnostic.message, kept.size());
            if (is_new)
                kept.push_back(diagnostic);
            else
                add_places(kept[at->second], diagnostic.labels);
            continue;
        }
        const Parts parts = parts_of(diagnostic.message);
        if (std::find(std::begin(joined_codes), std::end(joined_codes), diagnostic.code) == std::end(joined_codes) ||
            parts.array.empty() || diagnostic.labels.empty()) {
            kept.push_back(diagnostic);
            continue;
        }
        const Span& cause = diagnostic.labels.front().span;
        const auto [at, is_new] =
            first.try_emplace({cause.file, cause.line, cause.column, parts.about, parts.said}, kept.size());
        if (is_new) {
            kept.push_back(diagnostic);
            continue;
        }
        Diagnostic& joined = kept[at->second];
        std::vector<std::string>& names = others[at->second];
        if (std::find(names.begin(), names.end(), parts.array) == names.end() &&
            parts_of(joined.message).array != parts.array)
            names.push_back(parts.array);
        add_places(joined, std::span(diagnostic.labels).subspan(1));
    }
    for (auto& [at, names] : others) {
        if (names.empty()) continue;
        const size_t more = names.size() > shown ? names.size() - shown : 0;
        names.resize(names.size() - more);
        kept[at].notes.push_back(
            fmt::format("so has {}{}", fmt::join(names, ", "), more > 0 ? fmt::format(" and {} more", more) : ""));
    }
    Diagnostics result;
    for (Diagnostic& diagnostic : kept) result.add(std::move(diagnostic));
    return result;
}

} // namespace shard
