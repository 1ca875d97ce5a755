#include "cli/inputs/axis_patterns.h"

#include "planner/text/glob.h"
#include "planner/text/yaml_values.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

// ~ is a dim without a name.
std::optional<std::string> read_axis(const Yaml& yaml, const std::vector<std::string>& before,
                                     Diagnostics& diagnostics) {
    if (yaml.is_null()) return std::string();
    const std::optional<std::string> name = read_string(yaml, "an axis", diagnostics);
    if (!name) return std::nullopt;
    if (name->empty() || name_text(*name) != *name) {
        diagnostics.error("E0811", yaml.span, fmt::format("'{}' is no name of an axis", *name))
            .help("names have letters, digits and _; ~ is a dim without a name");
        return std::nullopt;
    }
    if (std::find(before.begin(), before.end(), *name) != before.end()) {
        diagnostics.error("E0811", yaml.span, fmt::format("axis '{}' twice in one array", *name))
            .help("a rule cannot split two dims of an array alike: give one another name, or ~");
        return std::nullopt;
    }
    return name;
}

} // namespace

std::optional<std::vector<GivenAxes>> read_axis_patterns(const Sources& sources, int file, Diagnostics& diagnostics) {
    const YamlDocument yaml = parse_yaml(sources, file, diagnostics);
    if (!yaml) return std::nullopt;
    if (yaml->map() == nullptr) {
        diagnostics.error("E0811", yaml->span, fmt::format("expected patterns with their axes, found {}", yaml->kind()))
            .help("write a line for each: params.**.kernel: [embed, mlp]");
        return std::nullopt;
    }
    std::vector<GivenAxes> all;
    bool is_sound = true;
    for (const YamlEntry& entry : *yaml->map()) {
        std::string pattern = entry.key;
        std::replace(pattern.begin(), pattern.end(), '/', '.');
        GivenAxes given{
            entry.key, [pattern](const std::string& path) { return glob_matches(pattern, path); }, {}, entry.key_span};
        if (entry.value.list() == nullptr) {
            diagnostics
                .error("E0811", entry.value.span, fmt::format("expected a list of axes, found {}", entry.value.kind()))
                .help("a name for each dim: [embed, mlp]; [] for a number");
            is_sound = false;
            continue;
        }
        for (const Yaml& axis : *entry.value.list()) {
            const std::optional<std::string> name = read_axis(axis, given.axes, diagnostics);
            is_sound = is_sound && name;
            given.axes.push_back(name.value_or(""));
        }
        all.push_back(std::move(given));
    }
    return is_sound ? std::optional<std::vector<GivenAxes>>(std::move(all)) : std::nullopt;
}

} // namespace shard
