// MaxText's base.yml, or a config that has its keys:
//
//     mesh_axes: ['data', 'fsdp', 'tensor']
//     ici_fsdp_parallelism: -1
//     dcn_data_parallelism: -1
//     logical_axis_rules: [['activation_batch', ['data', 'fsdp']], ['mlp', 'tensor']]

#include "cli/rules/maxtext_rules.h"

#include "planner/model/names.h"
#include "planner/text/yaml_values.h"
#include "plans/base/parse_number.h"
#include "plans/diagnostics/suggestion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace shard {

namespace {

// ici_fsdp_parallelism. The axis of stages is called pipeline there.
std::string degree_key(std::string_view network, const std::string& axis) {
    return fmt::format("{}_{}_parallelism", network, axis == "stage" ? "pipeline" : axis);
}

struct Degree {
    i64 size = 1; // where the file does not say it
    Span span;
};

std::optional<Degree> degree(const Yaml& config, const std::string& key, Span otherwise, Diagnostics& diagnostics) {
    for (const YamlEntry& entry : *config.map())
        if (entry.key == key) {
            const std::optional<i64> size = read_int(entry.value, key, diagnostics);
            return size ? std::optional(Degree{*size, entry.key_span}) : std::nullopt;
        }
    return Degree{1, otherwise};
}

// Degrees of axes that are not there. One of 1 has nothing to say.
void warn_of_unread(const Yaml& config, const std::vector<std::string>& read, Diagnostics& diagnostics) {
    const std::vector<std::string_view> known(read.begin(), read.end());
    for (const YamlEntry& entry : *config.map()) {
        if (!entry.key.starts_with("ici_") && !entry.key.starts_with("dcn_")) continue;
        if (entry.key.starts_with("dcn_bandwidth_")) continue; // of a network that is emulated
        if (std::find(read.begin(), read.end(), entry.key) != read.end()) continue;
        if (entry.value.scalar() != nullptr && entry.value.scalar()->text == "1") continue;
        diagnostics
            .warning("W0805", entry.key_span, fmt::format("'{}' is of no axis of mesh_axes, and left out", entry.key))
            .help(did_you_mean(entry.key, known, fmt::format("those of its axes are {}", fmt::join(known, ", "))));
    }
}

std::optional<std::vector<std::string>> names(const Yaml& yaml, std::string_view what, Diagnostics& diagnostics) {
    std::vector<std::string> found;
    if (yaml.is_null()) return found;
    if (const YamlList* const list = yaml.list()) {
        for (const Yaml& item : *list) {
            const std::optional<Name> name = read_name(item, what, diagnostics);
            if (!name) return std::nullopt;
            found.push_back(name->text);
        }
        return found;
    }
    const std::optional<std::string> name = read_string(yaml, what, diagnostics);
    if (!name || (!name->empty() && !check_name(*name, yaml.span, what, diagnostics))) return std::nullopt;
    if (!name->empty()) found.push_back(*name);
    return found;
}

bool read_rules(const Yaml& yaml, ForeignRules& into, Diagnostics& diagnostics) {
    const auto fail = [&](const Yaml& at, std::string_view what) {
        diagnostics.error("E0810", at.span, fmt::format("{}, found {}", what, at.kind()))
            .help("a rule is a pair: ['mlp', ['fsdp', 'tensor']]");
        return false;
    };
    if (yaml.list() == nullptr) return fail(yaml, "logical_axis_rules: expected a list of rules");
    for (const Yaml& rule : *yaml.list()) {
        if (rule.list() == nullptr || rule.list()->size() != 2)
            return fail(rule, "a rule: expected a logical axis and its mesh axes");
        const std::optional<Name> logical = read_name((*rule.list())[0], "a logical axis", diagnostics);
        const std::optional<std::vector<std::string>> axes = names((*rule.list())[1], "a mesh axis", diagnostics);
        if (!logical || !axes) return false;
        into.rules.emplace_back(logical->text, *axes);
    }
    return true;
}

} // namespace

bool set_degrees(ForeignRules& rules, const std::vector<std::string>& settings, Diagnostics& diagnostics) {
    for (const std::string& setting : settings) {
        const size_t equals = std::min(setting.find('='), setting.size());
        const std::string key = setting.substr(0, equals);
        const std::optional<i64> size = parse_number<i64>(setting.substr(std::min(equals + 1, setting.size())));
        std::vector<std::string> known;
        bool found = false;
        for (ForeignAxis& axis : rules.axes) {
            const std::string within = degree_key("ici", axis.name), across = degree_key("dcn", axis.name);
            for (const auto& [name, of] :
                 {std::pair(within, &ForeignAxis::within), std::pair(across, &ForeignAxis::across)}) {
                known.push_back(name);
                found = found || name == key;
                if (name == key && size) axis.*of = *size;
            }
        }
        if (!found)
            diagnostics.error("E0701", {}, fmt::format("--set {}: no axis of mesh_axes has '{}'", setting, key))
                .help(did_you_mean(key, {known.begin(), known.end()},
                                   fmt::format("there are {}", fmt::join(known, ", "))));
        else if (!size)
            diagnostics.error("E0701", {}, fmt::format("--set {}: expected a whole number behind '='", setting))
                .help(fmt::format("write --set {}=8, or -1 for what the others leave", key));
    }
    return !diagnostics.has_error();
}

std::optional<ForeignRules> read_maxtext(const Sources& sources, int file, Diagnostics& diagnostics) {
    const YamlDocument config = parse_yaml(sources, file, diagnostics);
    if (!config) return std::nullopt;
    const Yaml *const axes = config->find("mesh_axes"), *const rules = config->find("logical_axis_rules");
    if (axes == nullptr || rules == nullptr) {
        diagnostics
            .error("E0810", config->span,
                   fmt::format("there is no '{}'", axes == nullptr ? "mesh_axes" : "logical_axis_rules"))
            .help("give MaxText's base.yml, or a config that has its mesh_axes and logical_axis_rules");
        return std::nullopt;
    }
    ForeignRules found;
    const std::optional<std::vector<std::string>> mesh = names(*axes, "a mesh axis", diagnostics);
    if (!mesh) return std::nullopt;
    std::vector<std::string> read;
    for (const std::string& name : *mesh) {
        for (const std::string_view network : {"ici", "dcn"}) read.push_back(degree_key(network, name));
        const std::optional<Degree> within = degree(*config, read.end()[-2], axes->span, diagnostics),
                                    across = degree(*config, read.back(), axes->span, diagnostics);
        if (!within || !across) return std::nullopt;
        found.axes.push_back({name, within->size, across->size, within->span, across->span});
    }
    warn_of_unread(*config, read, diagnostics);
    if (!read_rules(*rules, found, diagnostics)) return std::nullopt;
    // Models here call the axes of inputs so.
    for (const std::string logical : {"batch", "length"}) {
        const auto is = [](const std::string& name) {
            return [name](const std::pair<std::string, std::vector<std::string>>& rule) { return rule.first == name; };
        };
        const auto of_activations = std::find_if(found.rules.begin(), found.rules.end(), is("activation_" + logical));
        if (of_activations != found.rules.end() && std::none_of(found.rules.begin(), found.rules.end(), is(logical)))
            found.rules.emplace_back(logical, std::vector<std::string>(of_activations->second));
    }
    return found;
}

} // namespace shard
