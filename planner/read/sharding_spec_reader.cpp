// Shardings and rules as written in files, mesh axes still by name:
//
//     mesh: [data, [data, model], ~, "?", "data?", "data@1", "data:(1)2"]
//     rules: [{batch: data}, {mlp: [fsdp, tensor]}, {embed: ~}, {kv: "?"}]
#include "planner/read/sharding_spec_reader.h"

#include "planner/model/names.h"
#include "plans/base/parse_number.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

constexpr std::string_view dim_help =
    "a dim is an axis name, a list of names, ~ (replicated), \"?\" (open), \"name?\", \"name@1\" or \"name:(1)2\"";

std::optional<i64> parse_count(std::string_view text) {
    const std::optional<i64> value = parse_number<i64>(text);
    return value && *value >= 0 ? value : std::nullopt;
}

// "data" or the sub-axis "data:(1)2".
bool is_axis_text(std::string_view text) {
    const size_t colon = text.find(':');
    if (!is_name(text.substr(0, colon))) return false;
    if (colon == std::string_view::npos) return true;
    const std::string_view part = text.substr(colon + 1);
    const size_t close = part.find(')');
    if (!part.starts_with('(') || close == std::string_view::npos) return false;
    const std::optional<i64> pre = parse_count(part.substr(1, close - 1));
    const std::optional<i64> size = parse_count(part.substr(close + 1));
    return pre && size && *pre >= 1 && *size >= 1;
}

void report(const Yaml& yaml, Diagnostics& diagnostics) {
    const std::string found =
        yaml.scalar() != nullptr ? fmt::format("'{}'", yaml.scalar()->text) : std::string(yaml.kind());
    diagnostics.error("E0305", yaml.span, fmt::format("{} is not a sharding of a dim", found))
        .help(std::string(dim_help));
}

// The text of a dim: axes, then '?', then '@' and a priority.
bool read_dim_text(std::string_view text, DimSpec& dim) {
    const size_t at = text.find('@');
    if (at != std::string_view::npos) {
        const std::optional<i64> priority = parse_count(text.substr(at + 1));
        if (!priority || *priority > 1000) return false;
        dim.priority = static_cast<int>(*priority);
        text = text.substr(0, at);
    }
    if (text.ends_with('?')) {
        dim.open = true;
        text.remove_suffix(1);
    }
    if (text.empty()) return dim.open; // "?" alone
    if (!is_axis_text(text)) return false;
    dim.axes.emplace_back(text);
    return true;
}

// In a list only the last entry may be "?": the dim may be split further.
bool read_dim_list(const YamlList& list, DimSpec& dim) {
    for (size_t i = 0; i < list.size(); ++i) {
        const YamlScalar* item = list[i].scalar();
        if (item == nullptr || list[i].kind() != "a string") return false;
        if (item->text == "?" && i + 1 == list.size()) {
            dim.open = true;
            continue;
        }
        if (!is_axis_text(item->text)) return false;
        dim.axes.push_back(item->text);
    }
    return true;
}

std::optional<DimSpec> read_dim(const Yaml& yaml, Diagnostics& diagnostics) {
    DimSpec dim;
    dim.span = yaml.span;
    if (yaml.is_null()) return dim;
    const bool good = yaml.list() != nullptr      ? read_dim_list(*yaml.list(), dim)
                      : yaml.kind() == "a string" ? read_dim_text(yaml.scalar()->text, dim)
                                                  : false;
    if (!good) {
        report(yaml, diagnostics);
        return std::nullopt;
    }
    return dim;
}

bool read_rule_axes(const Yaml& value, AxisRule& rule, Diagnostics& diagnostics) {
    const auto read_one = [&](const Yaml& item) {
        const std::optional<Name> name = read_name(item, "a mesh axis", diagnostics);
        if (!name) return false;
        if (std::find(rule.axes.begin(), rule.axes.end(), name->text) != rule.axes.end()) {
            diagnostics.error("E0306", item.span, fmt::format("mesh axis '{}' is named twice in one rule", name->text));
            return false;
        }
        rule.axes.push_back(name->text);
        rule.axis_spans.push_back(name->span);
        return true;
    };
    if (value.is_null()) return true;
    if (const YamlList* list = value.list()) {
        bool good = true;
        for (const Yaml& item : *list) good = read_one(item) && good;
        return good;
    }
    if (value.scalar() != nullptr && value.scalar()->text == "?") {
        rule.unconstrained = true;
        return true;
    }
    if (value.scalar() != nullptr) return read_one(value);
    diagnostics.error("E0306", value.span, fmt::format("a rule's mesh axes cannot be {}", value.kind()))
        .help("write an axis, a list of axes, ~ (replicated) or \"?\" (unconstrained)");
    return false;
}

} // namespace

void report_partition_spec(std::string_view written, Span span, Diagnostics& diagnostics) {
    std::string list;
    for (const char c : written.substr(written.find('(')))
        if (c != '\'' && c != '"') list += c == '(' ? '[' : c == ')' ? ']' : c;
    if (!list.ends_with(']')) list += ']';
    for (size_t at = list.find("None"); at != std::string::npos; at = list.find("None", at)) list.replace(at, 4, "~");
    for (size_t at = list.find(",]"); at != std::string::npos; at = list.find(",]")) list.erase(at, 1);
    diagnostics.error("E0113", span, "sharding: expected a list with one entry per dim, found a PartitionSpec")
        .help("write " + list);
}

std::optional<ShardingSpec> read_sharding_spec(const Yaml& yaml, Diagnostics& diagnostics) {
    const YamlList* list = yaml.list();
    if (yaml.scalar() != nullptr && is_partition_spec(yaml.scalar()->text)) {
        report_partition_spec(yaml.scalar()->text, yaml.span, diagnostics);
        return std::nullopt;
    }
    if (yaml.find("axes") != nullptr || yaml.find("shape") != nullptr) {
        diagnostics.error("E0113", yaml.span, "sharding: expected a list with one entry per dim, found a declaration")
            .help("a model says what arrays are, with axes, shapes and init; here stands how the mesh splits them, "
                  "as [~, model]");
        return std::nullopt;
    }
    if (list == nullptr) {
        diagnostics
            .error("E0113", yaml.span,
                   fmt::format("sharding: expected a list with one entry per dim, found {}", yaml.kind()))
            .help(std::string(dim_help));
        return std::nullopt;
    }
    ShardingSpec spec;
    spec.span = yaml.span;
    bool good = true;
    for (const Yaml& item : *list) {
        const std::optional<DimSpec> dim = read_dim(item, diagnostics);
        if (dim) spec.dims.push_back(*dim);
        good = good && dim;
    }
    if (!good) return std::nullopt;
    return spec;
}

std::optional<AxisRule> read_axis_rule(const Yaml& yaml, Diagnostics& diagnostics) {
    const YamlMap* map = yaml.map();
    if (map == nullptr || map->size() != 1) {
        diagnostics
            .error("E0306", yaml.span,
                   fmt::format("a rule is a map of one entry, found {}",
                               map == nullptr ? std::string(yaml.kind()) : fmt::format("{} entries", map->size())))
            .help("write `- {batch: data}`, or `- {batch: [data, model]}` for several mesh axes");
        return std::nullopt;
    }
    const YamlEntry& entry = map->front();
    AxisRule rule;
    rule.logical = entry.key;
    rule.span = entry.key_span;
    const bool good = check_name(entry.key, entry.key_span, "a logical axis", diagnostics);
    if (!read_rule_axes(entry.value, rule, diagnostics) || !good) return std::nullopt;
    return rule;
}

std::optional<std::vector<AxisRule>> read_axis_rules(const Yaml& yaml, Diagnostics& diagnostics) {
    const YamlList* list = yaml.list();
    if (list == nullptr) {
        DiagnosticBuilder error =
            diagnostics.error("E0113", yaml.span, fmt::format("rules: expected a list, found {}", yaml.kind()));
        if (yaml.map() != nullptr) error.help("order matters in rules: write a list, `- {batch: data}`");
        return std::nullopt;
    }
    std::vector<AxisRule> rules;
    bool good = true;
    for (const Yaml& item : *list) {
        std::optional<AxisRule> rule = read_axis_rule(item, diagnostics);
        good = good && rule;
        if (rule) rules.push_back(std::move(*rule));
    }
    if (!good) return std::nullopt;
    return rules;
}

} // namespace shard
