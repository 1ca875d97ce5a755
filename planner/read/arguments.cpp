#include "planner/read/arguments.h"

#include "planner/model/names.h"
#include "planner/text/yaml_flow.h"
#include "planner/text/yaml_values.h"
#include "plans/base/characters.h"
#include "plans/diagnostics/suggestion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace shard {

namespace {

constexpr size_t longest_text = 4096; // that arguments are put into

// Keys of calls.
constexpr std::string_view reserved[] = {"in",   "if",      "name", "times", "axis",
                                         "scan", "reverse", "over", "stack", "wrt"};

std::vector<std::string_view> keys_of(const YamlMap& map) {
    std::vector<std::string_view> keys;
    for (const YamlEntry& entry : map) keys.push_back(entry.key);
    return keys;
}

const YamlEntry* find_entry(const YamlMap& map, std::string_view key) {
    const auto found = std::find_if(map.begin(), map.end(), [key](const YamlEntry& entry) { return entry.key == key; });
    return found == map.end() ? nullptr : &*found;
}

// In values; a long text counts as several.
i64 weight_of(const Yaml& yaml) {
    i64 weight = 1;
    if (const YamlScalar* scalar = yaml.scalar()) weight += static_cast<i64>(scalar->text.size() / 128);
    if (const YamlList* list = yaml.list())
        for (const Yaml& item : *list) weight += weight_of(item);
    if (const YamlMap* map = yaml.map())
        for (const YamlEntry& entry : *map) weight += weight_of(entry.value);
    return weight;
}

// One text or tree into which values are put.
class Writing {
public:
    Writing(const YamlMap& values, const YamlEntry& training, i64& left, Diagnostics& diagnostics)
        : values_(values), training_(training), left_(left), diagnostics_(diagnostics) {}

    // nullopt: left out, or an error.
    std::optional<Yaml> write(const Yaml& yaml) {
        if (!ok_ || !take(1, yaml.span)) return std::nullopt;
        if (const YamlScalar* scalar = yaml.scalar()) return written(*scalar, yaml.span);
        if (const YamlList* list = yaml.list()) return written(*list, yaml.span);
        if (const YamlMap* map = yaml.map()) return written(*map, yaml.span);
        return yaml;
    }

    bool ok() const { return ok_; }

private:
    DiagnosticBuilder error(std::string_view code, Span span, std::string message) {
        ok_ = false;
        return diagnostics_.error(code, span, std::move(message));
    }

    bool take(i64 weight, Span span) {
        left_ -= weight;
        if (left_ < 0)
            error("E0106", span, "with its arguments put in, the model has too many values")
                .help("look for an argument that grows with each use");
        return ok_;
    }

    std::optional<Yaml> written(const YamlScalar& scalar, Span span) {
        if (scalar.text.find('$') == std::string::npos) return Yaml{span, scalar};
        if (scalar.text[0] == '$' && name_at(scalar.text, 0).size() + 1 == scalar.text.size()) {
            const YamlEntry* value = find(scalar.text.substr(1), span);
            if (value == nullptr || !take(weight_of(value->value), span)) return std::nullopt;
            return Yaml{span, value->value.value};
        }
        std::string text;
        for (size_t at = 0; at < scalar.text.size();) {
            const std::string_view name = scalar.text[at] == '$' ? name_at(scalar.text, at) : std::string_view();
            if (name.empty()) {
                text += scalar.text[at++];
                continue;
            }
            const YamlEntry* value = find(name, span);
            if (value == nullptr) return std::nullopt;
            if (value->value.scalar() == nullptr) {
                error("E0226", span, fmt::format("'${}' is {}, and stands within a text", name, value->value.kind()))
                    .label(value->key_span, "given here");
                return std::nullopt;
            }
            text += part_of(value->value, scalar.quoted);
            at += 1 + name.size();
            if (text.size() > longest_text) { // each argument could double the one before it
                error("E0106", span, fmt::format("with its arguments put in, a text has over {} bytes", longest_text))
                    .help("look for an argument that grows with each use");
                return std::nullopt;
            }
        }
        return Yaml{span, YamlScalar{std::move(text), scalar.quoted}};
    }

    // Within arithmetic the value is one number: 2 * $width of 4 + embed is 2 * (4 + embed).
    static std::string part_of(const Yaml& value, bool quoted) {
        const std::string& text = value.scalar()->text;
        return quoted || is_name(text) || all_digits(text) ? text : fmt::format("({})", text);
    }

    std::optional<Yaml> written(const YamlList& list, Span span) {
        YamlList made;
        for (const Yaml& item : list) {
            std::optional<Yaml> value = write(item);
            const bool emptied = value && value->map() != nullptr && value->map()->empty() && item.map() != nullptr &&
                                 !item.map()->empty(); // an entry of a graph that is left out
            if (value && !emptied) made.push_back(std::move(*value));
        }
        return ok_ ? std::optional(Yaml{span, std::move(made)}) : std::nullopt;
    }

    std::optional<Yaml> written(const YamlMap& map, Span span) {
        YamlMap made;
        for (const YamlEntry& entry : map) {
            if (entry.key == "if") {
                if (!holds(entry.value)) return std::nullopt;
                continue;
            }
            const std::optional<Yaml> key = written(YamlScalar{entry.key, false}, entry.key_span);
            if (!key) return std::nullopt;
            if (key->scalar() == nullptr) {
                error("E0104", entry.key_span, fmt::format("{} cannot be a key: keys are names", key->kind()));
                return std::nullopt;
            }
            if (std::optional<Yaml> value = write(entry.value))
                made.push_back({key->scalar()->text, entry.key_span, std::move(*value)});
        }
        return ok_ ? std::optional(Yaml{span, std::move(made)}) : std::nullopt;
    }

    // true, false, `not true`, `not false`; the flag is an argument's as a rule. Of a list, all.
    bool holds(const Yaml& condition) {
        if (condition.list() != nullptr) {
            bool all = true;
            for (const Yaml& item : *condition.list()) all = holds(item) && all;
            return all;
        }
        std::optional<Yaml> value = write(condition);
        if (!value) return false;
        YamlScalar* scalar = std::get_if<YamlScalar>(&value->value);
        constexpr std::string_view negation = "not ";
        const bool negated = scalar != nullptr && scalar->text.starts_with(negation);
        if (negated) *scalar = {scalar->text.substr(negation.size()), false}; // "not $bias" may be in quotes
        const std::optional<bool> flag = read_bool(*value, "if", diagnostics_);
        ok_ = ok_ && flag;
        return flag && *flag != negated;
    }

    // The name behind the '$'. A '-' belongs to it if there is such an argument.
    std::string_view name_at(std::string_view text, size_t dollar) const {
        size_t end = dollar + 1;
        if (end >= text.size() || !starts_name(text[end])) return {};
        while (end < text.size() && (starts_name(text[end]) || is_digit(text[end]) || text[end] == '-')) ++end;
        std::string_view name = text.substr(dollar + 1, end - dollar - 1);
        for (size_t minus = 0; find_entry(values_, name) == nullptr; name = name.substr(0, minus))
            if (minus = name.rfind('-'); minus == std::string_view::npos) break;
        return name;
    }

    const YamlEntry* find(std::string_view name, Span span) {
        const YamlEntry* found = find_entry(values_, name);
        if (found != nullptr) return found;
        if (name == training_.key) return &training_;
        const std::vector<std::string_view> names = keys_of(values_);
        error("E0225", span, fmt::format("there is no argument '{}' here", name))
            .help(did_you_mean(name, names,
                               names.empty() ? std::string("declare it, with a default: args: {width: 256}")
                                             : fmt::format("arguments here: {}", fmt::join(names, ", "))));
        return nullptr;
    }

    const YamlMap& values_;
    const YamlEntry& training_;
    i64& left_;
    Diagnostics& diagnostics_;
    bool ok_ = true;
};

} // namespace

std::optional<YamlMap> ArgumentWriter::values(const YamlMap& args, const YamlMap& given, const YamlMap& around) {
    YamlMap values;
    for (const YamlEntry& arg : args) {
        const YamlEntry* other = find_entry(given, arg.key);
        std::optional<Yaml> value = other != nullptr ? other->value : arg.value;
        if (other == nullptr) {
            YamlMap before = values;
            before.insert(before.end(), around.begin(), around.end());
            value = write(arg.value, before);
            if (!value) return std::nullopt;
        }
        values.push_back({arg.key, arg.key_span, std::move(*value)});
    }
    values.insert(values.end(), around.begin(), around.end()); // what is found first stands before what it hides
    return values;
}

std::optional<Yaml> ArgumentWriter::write(const Yaml& yaml, const YamlMap& values) {
    Writing writing(values, training_, left_, *diagnostics_);
    std::optional<Yaml> made = writing.write(yaml);
    return writing.ok() ? std::move(made) : std::nullopt;
}

std::optional<YamlMap> read_args(const Yaml& yaml, Diagnostics& diagnostics) {
    if (yaml.map() == nullptr) {
        diagnostics
            .error("E0113", yaml.span, fmt::format("args: expected a map of name: default, found {}", yaml.kind()))
            .help("write args: {width: 256, bias: true}, with ~ where a call must say it");
        return std::nullopt;
    }
    bool good = true;
    for (const YamlEntry& arg : *yaml.map()) {
        good = check_name(arg.key, arg.key_span, "an argument", diagnostics) && good;
        if (std::find(std::begin(reserved), std::end(reserved), arg.key) == std::end(reserved)) continue;
        diagnostics.error("E0201", arg.key_span, fmt::format("'{}' cannot be the name of an argument", arg.key))
            .help(fmt::format("what calls a module has keys of its own: {}", fmt::join(reserved, ", ")));
        good = false;
    }
    return good ? std::optional(*yaml.map()) : std::nullopt;
}

std::optional<BoundModule> bind_arguments(const ModuleHead& module, const Name& call, YamlMap& arguments,
                                          Diagnostics& diagnostics) {
    BoundModule bound{module.name.text, {}, call.span};
    std::string given;
    bool good = true;
    for (const YamlEntry& arg : module.args) {
        const YamlEntry* written = find_entry(arguments, arg.key);
        if (written == nullptr || written->value.is_null()) {
            if (!arg.value.is_null()) continue;
            diagnostics
                .error("E0225", call.span,
                       fmt::format("module '{}' needs the argument '{}'", module.name.text, arg.key))
                .label(arg.key_span, "declared here")
                .help(fmt::format("write {{{}: ..., {}: ...}}", module.name.text, arg.key));
            good = false;
            continue;
        }
        given += fmt::format("{}{}: {}", given.empty() ? "" : ", ", arg.key, flow_text(written->value));
        bound.given.push_back(*written);
    }
    std::erase_if(arguments, [&](const YamlEntry& item) { return find_entry(module.args, item.key) != nullptr; });
    if (!given.empty()) bound.name += fmt::format("({})", given);
    return good ? std::optional(std::move(bound)) : std::nullopt;
}

} // namespace shard
