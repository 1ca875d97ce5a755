#include "cli/summary/alike.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {

namespace {

// The parts of a path: dots inside braces part nothing.
std::vector<std::string> parts_of(std::string_view name) {
    std::vector<std::string> parts(1);
    int depth = 0;
    for (char c : name) {
        depth += c == '{' ? 1 : c == '}' ? -1 : 0;
        if (c == '.' && depth == 0)
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

// Names that differ in one part.
struct Names {
    std::vector<std::string> parts; // of the first
    size_t varying;                 // which part; none while there is one name
    std::vector<std::string> values;
};

bool join(Names& names, const std::vector<std::string>& parts) {
    if (parts.size() != names.parts.size() || parts.size() == 1) return false;
    size_t differs = parts.size();
    for (size_t i = 0; i < parts.size(); ++i) {
        if (parts[i] == names.parts[i]) continue;
        if (differs < parts.size()) return false;
        differs = i;
    }
    if (differs == parts.size() || (names.values.size() > 1 && differs != names.varying)) return false;
    if (names.values.size() <= 1) names.values = {names.parts[differs]};
    names.varying = differs;
    names.values.push_back(parts[differs]);
    return true;
}

// What stands in front of a number at the end.
std::string_view without_number(std::string_view name) {
    while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.remove_suffix(1);
    return name;
}

} // namespace

std::string_view module_path(std::string_view name) {
    int depth = 0;
    for (size_t i = name.size(); i-- > 0;) {
        if (name[i] == '}') ++depth;
        if (name[i] == '{') --depth;
        if (name[i] == '.' && depth == 0) return name.substr(0, i);
    }
    return {};
}

std::string joined_names(std::span<const std::string> names, size_t most) {
    const auto is_numbered = [&](const std::string& name) {
        return !name.empty() && without_number(name) != name && without_number(name) == without_number(names.front());
    };
    if (names.size() > most && std::all_of(names.begin(), names.end(), is_numbered))
        return fmt::format("{}* ({})", without_number(names.front()), names.size());
    std::vector<Names> all;
    for (size_t i = 0; i < std::min(names.size(), most); ++i) {
        const std::vector<std::string> parts = parts_of(names[i]);
        if (std::none_of(all.begin(), all.end(), [&](Names& known) { return join(known, parts); }))
            all.push_back({parts, parts.size(), {}});
    }
    std::vector<std::string> words;
    for (Names& each : all) {
        if (each.varying < each.parts.size())
            each.parts[each.varying] = fmt::format("{{{}}}", fmt::join(each.values, ","));
        words.push_back(fmt::format("{}", fmt::join(each.parts, ".")));
    }
    const std::string out = fmt::format("{}", fmt::join(words, ", "));
    return names.size() > most ? fmt::format("{} and {} more", out, names.size() - most) : out;
}

std::string joined_places(std::span<const std::string> places) {
    std::vector<std::string> known;
    for (const std::string& place : places)
        if (std::find(known.begin(), known.end(), place) == known.end()) known.push_back(place);
    if (known.empty()) return {};
    return known.size() == 1 ? known.front() : fmt::format("{} +{}", known.front(), known.size() - 1);
}

} // namespace shard
