#include "cli/inputs/settings.h"

#include "cli/inputs/added_key.h"
#include "cli/inputs/candidates.h"
#include "cli/report/json_schema_keys.h"
#include "planner/text/yaml.h"
#include "plans/base/parse_number.h"
#include "plans/diagnostics/suggestion.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

constexpr size_t most_choices = 1000;

// A value of a file, by its path from the top.
struct Target {
    int file = -1;
    std::string path;
    const Yaml* value = nullptr;
};

const Yaml* at_path(const Yaml& yaml, std::string_view path) {
    if (path.empty()) return &yaml;
    const auto below = [path](std::string_view key, const Yaml& value) -> const Yaml* {
        if (path == key) return &value;
        if (!path.starts_with(key) || path[key.size()] != '.') return nullptr;
        return at_path(value, path.substr(key.size() + 1));
    };
    if (yaml.map() != nullptr)
        for (const YamlEntry& entry : *yaml.map()) // keys may have dots: "block.*.w1"
            if (const Yaml* found = below(entry.key, entry.value)) return found;
    if (yaml.list() != nullptr)
        for (size_t i = 0; i < yaml.list()->size(); ++i)
            if (const Yaml* found = below(std::to_string(i), (*yaml.list())[i])) return found;
    return nullptr;
}

// A model's arguments and axes by their names.
Target find_target(const int files[2], const std::string& path, const Yaml& model, const Yaml& layout) {
    for (const std::string& full : {"args." + path, "axes." + path, path})
        if (const Yaml* value = at_path(model, full)) return {files[0], full, value};
    return {files[1], path, at_path(layout, path)};
}

// `sizes: fixed` of a model, as `import` writes it.
bool has_fixed_sizes(const Yaml& model) {
    const Yaml* const sizes = at_path(model, "sizes");
    return sizes != nullptr && sizes->scalar() != nullptr && sizes->scalar()->text == "fixed";
}

class Setter {
public:
    Setter(Sources& sources, int model, int layout, Diagnostics& diagnostics)
        : sources_(sources), files_{model, layout}, diagnostics_(diagnostics) {}

    bool apply(const std::vector<std::string>& settings) {
        for (const std::string& setting : settings)
            if (!apply(setting)) return false;
        return true;
    }

private:
    bool refuse(std::string_view code, std::string message, std::string help) {
        diagnostics_.error(code, {}, std::move(message)).help(std::move(help));
        return false;
    }

    bool apply(const std::string& setting) {
        const size_t equals = setting.find('=');
        const std::string path = setting.substr(0, equals);
        if (equals == std::string::npos || equals == 0 || equals + 1 == setting.size())
            return refuse("E0701", fmt::format("--set takes a name and a value, not '{}'", setting),
                          "write --set batch=128, or --set mesh.data=16");
        if (std::find(set_.begin(), set_.end(), path) != set_.end())
            return refuse("E0701", fmt::format("'{}' is set twice", path), "give one value");
        set_.push_back(path);
        const std::string value = setting.substr(equals + 1);
        if (value.find(',') != std::string::npos)
            return refuse("E0701", fmt::format("--set {} gives several values", setting),
                          "`shardc plan` plans each of them; other commands take one");
        YamlDocument yamls[2];
        for (int n = 0; n < 2; ++n) {
            Diagnostics unheard;
            yamls[n] = parse_yaml(sources_, files_[n], unheard);
            if (!yamls[n]) return true;
        }
        const Target target = find_target(files_, path, *yamls[0], *yamls[1]);
        if (target.value != nullptr && target.path.starts_with("axes.") && has_fixed_sizes(*yamls[0]))
            return refuse("E0710", fmt::format("the sizes of the model are fixed, '{}' too", path),
                          "they are numbers all over the graph of a traced program: trace it again with others");
        if (target.value != nullptr) return put(target, path, value);
        for (int n = 0; n < 2; ++n)
            if (is_key(n == 0 ? "model." : "layout.", path)) return add(files_[n], *yamls[n], path, value);
        return report_unknown(path, *yamls[0], *yamls[1]);
    }

    bool put(const Target& target, const std::string& path, const std::string& value) {
        const std::string& name = sources_.name(target.file);
        if (target.value->list() != nullptr || target.value->map() != nullptr)
            return refuse("E0710",
                          fmt::format("'{}' is {} in {}: one value at a time is set", path, target.value->kind(), name),
                          fmt::format("add a name of what is in it: --set {}.NAME={}", path, value));
        const Span span = target.value->span;
        std::string text = sources_.text(target.file);
        size_t start = 0;
        for (int line = 1; line < span.line; ++line) start = text.find('\n', start) + 1;
        start += static_cast<size_t>(span.column - 1);
        text.replace(start, static_cast<size_t>(span.length), value);
        if (take(target, text, value, span)) return true;
        return refuse("E0710", fmt::format("'{}' cannot be put in the place of {} in {}", value, path, name),
                      "a value is a number, a name or a flag, and stands on one line");
    }

    // A key that is not written there.
    bool add(int file, const Yaml& yaml, const std::string& path, const std::string& value) {
        const std::optional<std::string> text = with_added_key(sources_.text(file), yaml, path, value);
        if (text && take({file, path, nullptr}, *text, value, {})) return true;
        return refuse(
            "E0710", fmt::format("'{}' is not written in {}, and cannot be added there", path, sources_.name(file)),
            "write it with a value of its own, which is then set; what is added stands in braces or ends the file");
    }

    // The text in place of a file's, unless the value does anything else to it than was meant. `span`, where it is
    // known, is where the value has to be.
    bool take(const Target& target, const std::string& text, const std::string& value, const Span& span) {
        Sources set;
        for (int file = 0; file < sources_.count(); ++file)
            set.add(sources_.name(file), file == target.file ? text : sources_.text(file));
        Diagnostics unheard;
        const YamlDocument again = parse_yaml(set, target.file, unheard);
        const Yaml* now = again ? at_path(*again, target.path) : nullptr;
        if (now == nullptr || (span.known() && (now->span.line != span.line || now->span.column != span.column)) ||
            (now->scalar() != nullptr && now->scalar()->text != value) || now->list() || now->map())
            return false;
        sources_ = std::move(set);
        return true;
    }

    static bool is_key(std::string_view file, const std::string& path) {
        const std::vector<Item> keys = schema_keys();
        return std::any_of(keys.begin(), keys.end(),
                           [&](const Item& key) { return key.name == fmt::format("{}{}", file, path); });
    }

    bool report_unknown(const std::string& path, const Yaml& model, const Yaml& layout) {
        std::vector<std::string> known;
        const auto add = [&known](const Yaml* map, const std::string& prefix) {
            if (map != nullptr && map->map() != nullptr)
                for (const YamlEntry& entry : *map->map()) known.push_back(prefix + entry.key);
        };
        add(model.find("args"), "");
        add(model.find("axes"), "");
        add(layout.find("mesh"), "mesh.");
        std::vector<std::string_view> names(known.begin(), known.end());
        const std::vector<Item> keys = schema_keys();
        for (const Item& key : keys)
            for (const std::string_view file : {"model.", "layout."})
                if (key.name.starts_with(file)) names.push_back(std::string_view(key.name).substr(file.size()));
        constexpr size_t most_listed = 12;
        const std::string all = known.size() <= most_listed
                                    ? fmt::format("there are {}", fmt::join(known, ", "))
                                    : "an argument or an axis of the model, or a path: mesh.data";
        return refuse(
            "E0710",
            fmt::format("there is no '{}' in {} or {}", path, sources_.name(files_[0]), sources_.name(files_[1])),
            did_you_mean(path, names, all));
    }

    Sources& sources_;
    int files_[2];
    Diagnostics& diagnostics_;
    std::vector<std::string> set_; // paths so far
};

std::vector<Candidate> axes(const Arguments& typed, Env& env) {
    for (const std::string_view place : {"MODEL", "FILE", "WHAT"}) // whatever a command calls it
        if (const std::vector<std::string> words = typed.strings(place); !words.empty())
            return axis_candidates(words, "=", env);
    return {};
}

} // namespace

OptionDef set_option() {
    return {.name = "--set",
            .value = "NAME=VALUE",
            .doc =
                "an argument or axis of the model, or a value by its path (mesh.data), in place of what its file says",
            .many = true,
            .candidates = axes};
}

bool apply_settings(Sources& sources, int model, int layout, const std::vector<std::string>& settings,
                    Diagnostics& diagnostics) {
    return Setter(sources, model, layout, diagnostics).apply(settings);
}

std::optional<std::string> written_value(const Sources& sources, int model, int layout, const std::string& path) {
    Diagnostics unheard;
    const YamlDocument of_model = parse_yaml(sources, model, unheard), of_layout = parse_yaml(sources, layout, unheard);
    if (!of_model || !of_layout) return std::nullopt;
    const int files[] = {model, layout};
    const Target target = find_target(files, path, *of_model, *of_layout);
    if (target.value == nullptr || target.value->scalar() == nullptr) return std::nullopt;
    return target.value->scalar()->text;
}

std::optional<std::vector<std::vector<std::string>>> all_choices(const std::vector<std::string>& settings,
                                                                 Diagnostics& diagnostics) {
    std::vector<std::vector<std::string>> choices = {{}};
    for (const std::string& setting : settings) {
        const size_t equals = std::min(setting.find('='), setting.size());
        std::vector<std::vector<std::string>> longer;
        if (equals + 1 >= setting.size()) { // whoever applies it says what is wrong with it
            for (std::vector<std::string>& choice : choices) choice.push_back(setting);
            continue;
        }
        for (const std::vector<std::string>& choice : choices)
            for (size_t start = equals; start < setting.size();) {
                const size_t comma = std::min(setting.find(',', start + 1), setting.size());
                if (comma == start + 1) {
                    diagnostics.error("E0701", {}, fmt::format("--set {} has nothing beside a comma", setting))
                        .help("write --set batch=128, or --set batch=64,128 for a plan of each");
                    return std::nullopt;
                }
                longer.push_back(choice);
                longer.back().push_back(setting.substr(0, equals) + "=" + setting.substr(start + 1, comma - start - 1));
                start = comma;
                if (longer.size() <= most_choices) continue;
                diagnostics.error("E0701", {}, fmt::format("--set asks for more than {} plans", most_choices))
                    .help("set fewer values at once");
                return std::nullopt;
            }
        choices = std::move(longer);
    }
    return choices;
}

} // namespace shard
