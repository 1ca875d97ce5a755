#include "planner/model/axis_arithmetic.h"

#include "planner/model/names.h"
#include "planner/text/arithmetic.h"
#include "planner/text/number_spelling.h"
#include "planner/text/yaml_values.h"
#include "plans/base/characters.h"
#include "plans/base/index_of.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

constexpr size_t max_axes = 1000; // resolving them takes time quadratic in their number

bool is_plain_number(const Yaml& yaml) { return yaml.kind() == "a number"; }

bool check_positive(i64 value, const Yaml& yaml, std::string_view what, Diagnostics& diagnostics) {
    if (value > 0) return true;
    DiagnosticBuilder error =
        diagnostics.error("E0206", yaml.span, fmt::format("{}: the size must be at least 1", what));
    if (is_plain_number(yaml))
        error.note(fmt::format("it is {}", value));
    else
        error.note(fmt::format("{} = {}", yaml.scalar()->text, value));
    return false;
}

// The place of an expression's part; the whole scalar when its text is not what stands in the file.
Span part_of(const Yaml& yaml, size_t at, size_t length) {
    const YamlScalar& scalar = *yaml.scalar();
    const size_t quotes = scalar.quoted ? 2 : 0;
    if (scalar.text.size() + quotes != static_cast<size_t>(yaml.span.length)) return yaml.span;
    Span span = yaml.span;
    span.column += static_cast<int>(at + quotes / 2);
    span.length = static_cast<int>(length);
    return span;
}

std::optional<i64> evaluate(const Yaml& yaml, std::string_view what, const NumberOfName& number_of,
                            ArithmeticProblem& problem, Diagnostics& diagnostics) {
    if (is_plain_number(yaml)) return read_int(yaml, what, diagnostics);
    const YamlScalar* scalar = yaml.scalar();
    if (scalar == nullptr) {
        diagnostics.error("E0113", yaml.span,
                          fmt::format("{}: expected a number or arithmetic over axes, found {}", what, yaml.kind()));
        return std::nullopt;
    }
    return evaluate_arithmetic(scalar->text, number_of, problem);
}

void report(const Yaml& yaml, std::string_view what, const ArithmeticProblem& problem,
            const std::vector<std::string_view>& candidates, Diagnostics& diagnostics) {
    if (problem.code.empty()) return; // already reported
    DiagnosticBuilder error = diagnostics.error(problem.code, part_of(yaml, problem.at, problem.length),
                                                fmt::format("{}: {}", what, problem.message));
    if (!problem.help.empty()) error.help(problem.help);
    if (!problem.unknown.empty()) suggest(error, problem.unknown, candidates);
}

std::optional<i64> evaluate_over(const Axes& axes, const Yaml& yaml, std::string_view what, Diagnostics& diagnostics) {
    const NumberOfName number_of = [&axes](std::string_view name) -> std::optional<i64> {
        for (const AxisDecl& axis : axes)
            if (axis.name.text == name) return axis.size;
        return std::nullopt;
    };
    ArithmeticProblem problem;
    const std::optional<i64> value = evaluate(yaml, what, number_of, problem, diagnostics);
    if (!value) report(yaml, what, problem, name_texts(axes), diagnostics);
    return value;
}

// An axis or nearly one, or something with an operator. What else is no number, a reader that wants one says best.
bool is_arithmetic(const std::string& text, const Axes& axes) {
    if (text.find_first_of("+-*/()") == std::string::npos)
        return std::any_of(axes.begin(), axes.end(), [&](const AxisDecl& axis) { return axis.name.text == text; }) ||
               !nearest(text, name_texts(axes)).empty();
    const bool is_number_of_others = !number_spelling_help(text).empty() && !is_digit(text[0]); // "-inf"
    return !is_number_of_others;
}

} // namespace

std::optional<Yaml> with_numbers(const Yaml& yaml, std::string_view what, const Axes& axes, Diagnostics& diagnostics) {
    Yaml made = yaml;
    if (YamlList* items = std::get_if<YamlList>(&made.value)) {
        for (Yaml& item : *items) {
            std::optional<Yaml> number = with_numbers(item, what, axes, diagnostics);
            if (!number) return std::nullopt;
            item = std::move(*number);
        }
    } else if (yaml.kind() == "a string" && is_arithmetic(yaml.scalar()->text, axes)) {
        const std::optional<i64> number = evaluate_over(axes, yaml, what, diagnostics);
        if (!number) return std::nullopt;
        made.value = YamlScalar{fmt::format("{}", *number), false};
    }
    return made;
}

std::optional<i64> read_integer(const Yaml& yaml, std::string_view what, const Axes& axes, Diagnostics& diagnostics) {
    const std::optional<Yaml> number = with_numbers(yaml, what, axes, diagnostics);
    return number ? read_int(*number, what, diagnostics) : std::nullopt;
}

std::optional<i64> read_size(const Yaml& yaml, std::string_view what, const Axes& axes, Diagnostics& diagnostics) {
    const std::optional<i64> value = evaluate_over(axes, yaml, what, diagnostics);
    return value && check_positive(*value, yaml, what, diagnostics) ? value : std::nullopt;
}

Axes read_axes(const Yaml& yaml, Diagnostics& diagnostics) {
    Axes axes;
    const YamlMap* entries = yaml.map();
    if (entries == nullptr) {
        diagnostics.error("E0113", yaml.span, fmt::format("axes: expected a map of name: size, found {}", yaml.kind()))
            .help("write axes: {batch: 8, embed: 16}");
        return axes;
    }
    if (entries->size() > max_axes) {
        diagnostics.error("E0202", yaml.span, fmt::format("more than {} axes", max_axes))
            .help("remove the axes that no array has");
        return axes;
    }
    std::vector<std::string_view> names;
    for (const YamlEntry& entry : *entries) names.push_back(entry.key);

    // Each round finds the sizes that only need sizes already found. -1: not found yet, 0: reported.
    std::vector<i64> sizes(entries->size(), -1);
    const NumberOfName number_of = [&](std::string_view name) -> std::optional<i64> {
        const std::vector<std::string_view>::const_iterator found = std::find(names.begin(), names.end(), name);
        if (found == names.end()) return std::nullopt;
        return std::max<i64>(sizes[found - names.begin()], 0);
    };
    std::vector<ArithmeticProblem> problems(entries->size());
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < entries->size(); ++i) {
            if (sizes[i] != -1) continue;
            const Yaml& value = (*entries)[i].value;
            const std::string what = fmt::format("axis '{}'", names[i]);
            problems[i] = {};
            const std::optional<i64> size = evaluate(value, what, number_of, problems[i], diagnostics);
            if (!problems[i].waits_for.empty()) continue;
            if (!size) report(value, what, problems[i], names, diagnostics);
            const bool good = size && check_positive(*size, value, what, diagnostics);
            sizes[i] = good ? *size : 0;
            changed = true;
        }
    }
    for (size_t i = 0; i < entries->size(); ++i) {
        const YamlEntry& entry = (*entries)[i];
        if (!check_name(entry.key, entry.key_span, "an axis", diagnostics)) continue;
        if (sizes[i] == -1) {
            const std::string& other = problems[i].waits_for;
            // What waits for a size that was reported needs no words of its own.
            if (sizes[index_of(names, other)] == -1)
                diagnostics.error(
                    "E0208", entry.value.span,
                    fmt::format("axis '{}' needs the size of '{}', which needs its own", entry.key, other));
        }
        axes.push_back({{entry.key, entry.key_span}, std::max<i64>(sizes[i], 0)});
    }
    return axes;
}

} // namespace shard
