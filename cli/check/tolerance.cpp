#include "cli/check/tolerance.h"

#include "planner/text/yaml_values.h"
#include "plans/base/parse_number.h"
#include "plans/diagnostics/suggestion.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

std::vector<std::string_view> keys() {
    std::vector<std::string_view> keys;
    for (const FigureDef& figure : all_figures()) {
        keys.push_back(figure.key);
        if (!figure.short_key.empty()) keys.push_back(figure.short_key);
    }
    return keys;
}

std::optional<size_t> figure_called(std::string_view name) {
    for (size_t i = 0; i < figure_count; ++i)
        if (all_figures()[i].key == name || (!name.empty() && all_figures()[i].short_key == name)) return i;
    return std::nullopt;
}

// "3%", "0.5 %".
std::optional<double> parse_share(std::string_view text) {
    if (!text.ends_with('%') || text.front() < '0' || text.front() > '9') return std::nullopt;
    text.remove_suffix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    const std::optional<double> number = parse_number<double>(text, std::chars_format::fixed);
    return number ? std::optional(*number / 100) : std::nullopt;
}

std::string_view trimmed(std::string_view text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    return text;
}

ToleranceMistake no_figure(std::string_view name) {
    return {fmt::format("there is no figure '{}'", name),
            did_you_mean(name, keys(), fmt::format("figures: {}", fmt::join(keys(), ", ")))};
}

ToleranceMistake no_share(std::string_view text) {
    return {fmt::format("'{}' is not a tolerance", text), "write 3%, or wire_bytes=1%,step_seconds=5%"};
}

} // namespace

std::optional<Tolerance> parse_tolerance(std::string_view text, ToleranceMistake& mistake) {
    Tolerance tolerance = {};
    std::array<bool, figure_count> named = {};
    std::optional<double> of_all;
    for (size_t start = 0; start <= text.size();) {
        const size_t comma = std::min(text.find(',', start), text.size());
        const std::string_view part = trimmed(text.substr(start, comma - start));
        start = comma + 1;
        const size_t equals = part.find('=');
        const bool of_one = equals != std::string_view::npos;
        const std::optional<double> share = parse_share(trimmed(of_one ? part.substr(equals + 1) : part));
        const std::string_view name = of_one ? trimmed(part.substr(0, equals)) : std::string_view();
        const std::optional<size_t> figure = figure_called(name);
        if (of_one && !figure) {
            mistake = no_figure(name);
            return std::nullopt;
        }
        if (!share) {
            mistake = no_share(part);
            return std::nullopt;
        }
        if (of_one ? named[*figure] : of_all.has_value()) {
            mistake = {
                fmt::format("'{}' gives two tolerances for {}", text, of_one ? all_figures()[*figure].key : "all"),
                "keep one of them"};
            return std::nullopt;
        }
        if (of_one) {
            tolerance[*figure] = *share;
            named[*figure] = true;
        } else {
            of_all = share;
        }
    }
    for (size_t i = 0; i < figure_count; ++i)
        if (!named[i]) tolerance[i] = of_all.value_or(0);
    return tolerance;
}

std::optional<Tolerance> read_tolerance(const Yaml& yaml, Diagnostics& diagnostics) {
    const auto refuse = [&](Span span, const ToleranceMistake& mistake) {
        diagnostics.error("E0712", span, "tolerance: " + mistake.message).help(mistake.help);
    };
    if (yaml.map() == nullptr) {
        const std::optional<std::string> text = read_string(yaml, "tolerance", diagnostics);
        ToleranceMistake mistake;
        const std::optional<double> share = text ? parse_share(*text) : std::nullopt;
        if (text && !share)
            refuse(yaml.span, {no_share(*text).message, "write 3%, or {wire_bytes: 1%, step_seconds: 5%}"});
        if (!share) return std::nullopt;
        Tolerance tolerance;
        tolerance.fill(*share);
        return tolerance;
    }
    Tolerance tolerance = {};
    bool fine = true;
    for (const YamlEntry& entry : *yaml.map()) {
        const std::optional<size_t> figure = figure_called(entry.key);
        const std::optional<std::string> text = read_string(entry.value, entry.key, diagnostics);
        const std::optional<double> share = text ? parse_share(*text) : std::nullopt;
        if (!figure) refuse(entry.key_span, no_figure(entry.key));
        if (text && !share) refuse(entry.value.span, {no_share(*text).message, "write 3%"});
        fine = fine && figure && share;
        if (figure && share) tolerance[*figure] = *share;
    }
    return fine ? std::optional(tolerance) : std::nullopt;
}

} // namespace shard
