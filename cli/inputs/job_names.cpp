#include "cli/inputs/job_names.h"

#include "planner/text/yaml_values.h"
#include "plans/diagnostics/suggestion.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

std::optional<JobNames> read_job_names(const Sources& sources, int file, const Plan& plan, Diagnostics& diagnostics) {
    const YamlDocument yaml = parse_yaml(sources, file, diagnostics);
    if (!yaml) return std::nullopt;
    if (yaml->map() == nullptr) {
        diagnostics.error("E0715", yaml->span, fmt::format("expected paths with names, found {}", yaml->kind()))
            .help("`shardc import PROGRAM --names FILE` writes such a file: a line `path: name` each");
        return std::nullopt;
    }
    std::vector<std::string_view> known;
    for (const PlanInput& input : plan.inputs) known.push_back(plan.buffers[input.buffer].name);
    std::sort(known.begin(), known.end());
    JobNames names;
    bool is_sound = true;
    for (const YamlEntry& entry : *yaml->map()) {
        const std::optional<std::string> name = read_string(entry.value, "a name of the plan", diagnostics);
        is_sound = is_sound && name;
        if (!name) continue;
        if (!std::binary_search(known.begin(), known.end(), *name)) {
            diagnostics.error("E0715", entry.value.span, fmt::format("no array of the plan is called '{}'", *name))
                .help(did_you_mean(*name, known, "import the program again: names and model are written together"));
            is_sound = false;
        }
        names.emplace_back(entry.key, *name);
    }
    return is_sound ? std::optional<JobNames>(std::move(names)) : std::nullopt;
}

} // namespace shard
