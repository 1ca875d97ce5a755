#include "planner/model/names.h"

#include "planner/text/number_spelling.h"
#include "planner/text/yaml_values.h"
#include "plans/base/characters.h"
#include "plans/diagnostics/suggestion.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

bool is_name(std::string_view text) {
    if (text.empty() || !starts_name(text[0])) return false;
    return std::all_of(text.begin(), text.end(), [](char c) { return starts_name(c) || is_digit(c) || c == '-'; });
}

bool is_partition_spec(std::string_view text) { return text.starts_with("P(") || text.starts_with("PartitionSpec("); }

bool is_value_name(std::string_view text) {
    const size_t hash = text.find('#');
    if (hash != std::string_view::npos && !all_digits(text.substr(hash + 1))) return false;
    std::string_view path = text.substr(0, hash);
    for (bool first = true;; first = false) {
        const size_t dot = path.find('.');
        const std::string_view part = path.substr(0, dot);
        // Behind the first dot a part may be the number of a repetition: block.0.w1
        if (!is_name(part) && (first || !all_digits(part))) return false;
        if (dot == std::string_view::npos) return true;
        path.remove_prefix(dot + 1);
    }
}

bool check_name(const std::string& text, Span span, std::string_view what, Diagnostics& diagnostics) {
    if (is_name(text)) return true;
    const bool is_spec = is_partition_spec(text);
    diagnostics.error("E0201", span, fmt::format("'{}' cannot be the name of {}", text, what))
        .help(is_spec ? "write axes without P and quotes: data, [data, model], or ~ for none"
                      : "use letters, digits, '_' and '-', starting with a letter or '_'");
    return false;
}

std::optional<Name> read_name(const Yaml& yaml, std::string_view what, Diagnostics& diagnostics) {
    if (yaml.kind() == "a number") {
        diagnostics.error("E0113", yaml.span, fmt::format("expected the name of {}, found a number", what))
            .help("names begin with a letter or '_'");
        return std::nullopt;
    }
    const std::optional<std::string> text = read_string(yaml, what, diagnostics);
    if (!text || !check_name(*text, yaml.span, what, diagnostics)) return std::nullopt;
    return Name{*text, yaml.span};
}

std::optional<std::vector<Name>> read_value_names(const Yaml& yaml, std::string_view what, Diagnostics& diagnostics) {
    std::vector<Name> names;
    bool good = true;
    const auto read_one = [&](const Yaml& item) {
        const std::optional<std::string> text = read_string(item, what, diagnostics);
        if (text && is_value_name(*text)) {
            names.push_back({*text, item.span});
            return;
        }
        if (text) {
            DiagnosticBuilder error =
                diagnostics.error("E0201", item.span, fmt::format("'{}' is not the name of a value", *text));
            if (const std::string help = number_spelling_help(*text); !help.empty()) error.help(help);
        }
        good = false;
    };
    if (const YamlList* list = yaml.list())
        for (const Yaml& item : *list) read_one(item);
    else
        read_one(yaml);
    if (!good) return std::nullopt;
    return names;
}

void suggest(DiagnosticBuilder error, std::string_view word, const std::vector<std::string_view>& candidates) {
    error.help(did_you_mean(word, candidates));
}

void suggest_dtype(DiagnosticBuilder error, std::string_view word) {
    std::string lower(word);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    lower = lower.substr(lower.rfind('.') + 1); // jnp.float32
    std::vector<std::string_view> names;
    for (DType dtype : all_dtypes()) names.push_back(name(dtype));
    std::string_view meant = nearest(lower, names);
    for (DType dtype : all_dtypes())
        for (std::string_view other : info(dtype).also)
            if (other == lower) meant = name(dtype);
    error.help(meant.empty() ? fmt::format("dtypes: {}", fmt::join(names, ", "))
                             : fmt::format("did you mean '{}'?", meant));
}

} // namespace shard
