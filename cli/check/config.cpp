#include "cli/check/config.h"

#include "planner/read/policy_reader.h"
#include "planner/text/yaml_values.h"

#include <fmt/format.h>

namespace shard {

namespace {

constexpr std::string_view of_all[] = {"layouts", "policies", "mode", "set", "strict", "baseline", "tolerance"};

class ConfigReader {
public:
    explicit ConfigReader(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

    CheckConfig read(const Yaml& yaml) {
        CheckConfig config;
        std::vector<std::string_view> keys = {"models"}; // what is needed is the better guess, so it comes first
        keys.insert(keys.end(), std::begin(of_all), std::end(of_all));
        if (!check_keys(yaml, keys, "the configuration", diagnostics_)) return config;
        ConfiguredModel usual;
        read_scope(yaml, usual);
        const Yaml* models = yaml.find("models");
        if (models == nullptr)
            diagnostics_.error("E0116", {yaml.span.file, 1, 1, 1}, "the configuration has no 'models'")
                .help("write models: [model.yaml]");
        else
            for (const Yaml& entry : list_of(*models, "models")) read_model(entry, usual, config);
        return config;
    }

private:
    // Of what is no list, or an empty one, nothing.
    const YamlList& list_of(const Yaml& yaml, std::string_view what) {
        static const YamlList none;
        if (yaml.list() != nullptr && !yaml.list()->empty()) return *yaml.list();
        diagnostics_
            .error("E0113", yaml.span,
                   fmt::format("{}: expected a list, found {}", what, yaml.list() ? "an empty one" : yaml.kind()))
            .help(fmt::format("write {}: [FILE]", what));
        return none;
    }

    std::optional<ConfiguredPath> path_of(const Yaml& yaml, std::string_view what) {
        const std::optional<std::string> path = read_string(yaml, what, diagnostics_);
        if (!path) return std::nullopt;
        if (!path->empty()) return ConfiguredPath{*path, yaml.span};
        diagnostics_.error("E0712", yaml.span, fmt::format("{}: a path is empty", what)).help("name a file");
        return std::nullopt;
    }

    void read_model(const Yaml& entry, const ConfiguredModel& usual, CheckConfig& config) {
        ConfiguredModel model = usual;
        std::optional<ConfiguredPath> path;
        if (entry.map() == nullptr) {
            path = path_of(entry, "models");
        } else {
            std::vector<std::string_view> keys = {"model"};
            keys.insert(keys.end(), std::begin(of_all), std::end(of_all));
            keys.emplace_back("name");
            check_keys(entry, keys, "an entry of models", diagnostics_);
            if (const Yaml* named = entry.find("model"))
                path = path_of(*named, "model");
            else
                diagnostics_.error("E0116", entry.span, "an entry of models needs 'model'")
                    .help("write {model: FILE, ...}, or the file alone");
            read_scope(entry, model);
        }
        if (!path) return;
        model.model = *path;
        model.name = path->path;
        if (const Yaml* name = entry.find("name"))
            if (const std::optional<std::string> text = read_string(*name, "name", diagnostics_)) model.name = *text;
        config.models.push_back(std::move(model));
    }

    void read_scope(const Yaml& yaml, ConfiguredModel& scope) {
        if (const Yaml* layouts = yaml.find("layouts")) {
            scope.layouts.clear();
            for (const Yaml& item : list_of(*layouts, "layouts"))
                if (const std::optional<ConfiguredPath> path = path_of(item, "layouts")) scope.layouts.push_back(*path);
        }
        if (const Yaml* policies = yaml.find("policies")) {
            scope.policies.clear();
            for (const Yaml& item : list_of(*policies, "policies")) {
                if (item.map() != nullptr)
                    scope.policies.push_back({{}, read_policy_map(item, diagnostics_)});
                else if (const std::optional<ConfiguredPath> path = path_of(item, "policies"))
                    scope.policies.push_back({*path, {}});
            }
        }
        if (const Yaml* mode = yaml.find("mode"))
            if (const std::optional<std::string> text = read_string(*mode, "mode", diagnostics_)) {
                if (*text != "forward" && *text != "train")
                    diagnostics_.error("E0118", mode->span, fmt::format("unknown mode '{}'", *text))
                        .help("write forward or train");
                scope.mode = *text;
            }
        if (const Yaml* set = yaml.find("set")) read_settings(*set, scope);
        if (const Yaml* strict = yaml.find("strict"))
            scope.strict = read_bool(*strict, "strict", diagnostics_).value_or(false);
        if (const Yaml* baseline = yaml.find("baseline")) scope.baseline = path_of(*baseline, "baseline");
        if (const Yaml* tolerance = yaml.find("tolerance"))
            scope.tolerance = read_tolerance(*tolerance, diagnostics_).value_or(Tolerance{});
    }

    // What they are put in the place of says whether they make sense.
    void read_settings(const Yaml& yaml, ConfiguredModel& scope) {
        scope.settings.clear();
        if (yaml.map() == nullptr) {
            diagnostics_.error("E0113", yaml.span, fmt::format("set: expected a map, found {}", yaml.kind()))
                .help("write set: {batch: 64}");
            return;
        }
        for (const YamlEntry& entry : *yaml.map()) {
            if (entry.value.scalar() == nullptr)
                diagnostics_
                    .error("E0113", entry.value.span,
                           fmt::format("set: expected a number, a name or a flag, found {}", entry.value.kind()))
                    .help("write set: {batch: 64}");
            else
                scope.settings.push_back(entry.key + "=" + entry.value.scalar()->text);
        }
    }

    Diagnostics& diagnostics_;
};

} // namespace

std::optional<CheckConfig> read_config(const Sources& sources, int file, Diagnostics& diagnostics) {
    const YamlDocument yaml = parse_yaml(sources, file, diagnostics);
    if (!yaml) return std::nullopt;
    const int before = diagnostics.error_count();
    CheckConfig config = ConfigReader(diagnostics).read(*yaml);
    if (diagnostics.error_count() > before) return std::nullopt;
    return config;
}

} // namespace shard
