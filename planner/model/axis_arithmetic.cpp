#include "planner/model/axis_arithmetic.h"

#include "planner/model/names.h"
#include "planner/text/yaml_values.h"
#include "plans/base/characters.h"
#include "plans/base/checked.h"
#include "plans/base/index_of.h"
#include "plans/base/parse_number.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

constexpr int max_parentheses = 64;
constexpr size_t max_axes = 1000; // resolving them takes time quadratic in their number

// Where and why an expression has no value.
struct SizeProblem {
    std::string code;
    size_t at = 0; // offset in the expression
    size_t length = 1;
    std::string message;
    std::string help;
    std::string unknown;   // the name that the lookup does not know
    std::string waits_for; // the name whose size is not known yet, or was reported; nothing else is set then
};

class Parser {
public:
    Parser(std::string_view text, const SizeLookup& lookup, SizeProblem& problem)
        : text_(text), lookup_(&lookup), problem_(&problem) {}

    std::optional<i64> parse() {
        const std::optional<i64> value = sum();
        if (!value) return std::nullopt;
        if (at_ < text_.size()) return fail("E0202", at_, 1, fmt::format("unexpected '{}'", text_[at_]));
        return value;
    }

private:
    std::nullopt_t fail(std::string_view code, size_t at, size_t length, std::string message, std::string help = {}) {
        *problem_ = {std::string(code), at, length, std::move(message), std::move(help), {}, {}};
        return std::nullopt;
    }

    char peek() {
        while (at_ < text_.size() && text_[at_] == ' ') ++at_;
        return at_ < text_.size() ? text_[at_] : '\0';
    }

    std::optional<i64> sum() {
        std::optional<i64> left = product();
        while (left && (peek() == '+' || peek() == '-')) {
            const size_t at = at_;
            const bool add = text_[at_++] == '+';
            const std::optional<i64> right = product();
            if (!right) return std::nullopt;
            i64 result = 0;
            if (add ? __builtin_add_overflow(*left, *right, &result) : __builtin_sub_overflow(*left, *right, &result))
                return overflow(at);
            left = result;
        }
        return left;
    }

    std::optional<i64> product() {
        std::optional<i64> left = factor();
        while (left && (peek() == '*' || peek() == '/')) {
            const size_t at = at_;
            const bool multiply = text_[at_++] == '*';
            const std::optional<i64> right = factor();
            if (!right) return std::nullopt;
            if (multiply) {
                left = checked_multiply(*left, *right);
                if (!left) return overflow(at);
            } else if (*right == 0) {
                return fail("E0207", at, 1, "division by zero");
            } else if (*left % *right != 0) {
                return fail("E0207", at, 1, fmt::format("{} does not divide by {}", *left, *right),
                            "`/` is exact: choose sizes that divide");
            } else {
                left = *left / *right;
            }
        }
        return left;
    }

    std::optional<i64> factor() {
        const char c = peek();
        if (c == '(') return parenthesis();
        if (is_digit(c)) return number();
        if (starts_name(c)) return name();
        if (c == '\0') return fail("E0202", at_, 1, "a number or an axis is missing at the end");
        return fail("E0202", at_, 1, fmt::format("expected a number or an axis, found '{}'", c));
    }

    std::optional<i64> parenthesis() {
        const size_t open = at_++;
        if (++depth_ > max_parentheses) return fail("E0202", open, 1, "too many parentheses");
        const std::optional<i64> value = sum();
        if (!value) return std::nullopt;
        if (peek() != ')') return fail("E0202", open, 1, "this parenthesis is never closed");
        ++at_;
        --depth_;
        return value;
    }

    std::optional<i64> number() {
        const size_t start = at_;
        while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
        const std::optional<i64> value = parse_number<i64>(text_.substr(start, at_ - start));
        if (!value) return overflow(start);
        if (at_ - start > 1 && text_[start] == '0')
            return fail("E0115", start, at_ - start, "a number with a leading zero", "remove the zero");
        return value;
    }

    // A '-' belongs to the name if there is an axis of that name, and is a minus otherwise.
    std::optional<i64> name() {
        const size_t start = at_;
        size_t end = start;
        size_t first_minus = std::string_view::npos;
        for (; end < text_.size(); ++end) {
            const char c = text_[end];
            if (c == '-' && first_minus == std::string_view::npos) first_minus = end;
            if (!starts_name(c) && !is_digit(c) && c != '-') break;
        }
        std::optional<i64> value = (*lookup_)(text_.substr(start, end - start));
        if (!value && first_minus != std::string_view::npos) {
            end = first_minus;
            value = (*lookup_)(text_.substr(start, end - start));
        }
        at_ = end;
        const std::string_view text = text_.substr(start, end - start);
        if (!value) {
            fail("E0205", start, text.size(), fmt::format("unknown axis '{}'", text));
            problem_->unknown = std::string(text);
        } else if (*value == 0) {
            problem_->waits_for = std::string(text);
            value = std::nullopt;
        }
        return value;
    }

    std::nullopt_t overflow(size_t at) { return fail("E0204", at, 1, "the size does not fit in 64 bits"); }

    std::string_view text_;
    const SizeLookup* lookup_;
    SizeProblem* problem_;
    size_t at_ = 0;
    int depth_ = 0;
};

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

std::optional<i64> evaluate(const Yaml& yaml, std::string_view what, const SizeLookup& lookup, SizeProblem& problem,
                            Diagnostics& diagnostics) {
    if (is_plain_number(yaml)) return read_int(yaml, what, diagnostics);
    const YamlScalar* scalar = yaml.scalar();
    if (scalar == nullptr) {
        diagnostics.error("E0113", yaml.span,
                          fmt::format("{}: expected a size or arithmetic over axes, found {}", what, yaml.kind()));
        return std::nullopt;
    }
    return Parser(scalar->text, lookup, problem).parse();
}

void report(const Yaml& yaml, std::string_view what, const SizeProblem& problem,
            const std::vector<std::string_view>& candidates, Diagnostics& diagnostics) {
    if (problem.code.empty()) return; // already reported
    DiagnosticBuilder error = diagnostics.error(problem.code, part_of(yaml, problem.at, problem.length),
                                                fmt::format("{}: {}", what, problem.message));
    if (!problem.help.empty()) error.help(problem.help);
    if (!problem.unknown.empty()) suggest(error, problem.unknown, candidates);
}

} // namespace

std::optional<i64> read_size(const Yaml& yaml, std::string_view what, const SizeLookup& lookup,
                             const std::vector<std::string_view>& candidates, Diagnostics& diagnostics) {
    SizeProblem problem;
    const std::optional<i64> value = evaluate(yaml, what, lookup, problem, diagnostics);
    if (!value) report(yaml, what, problem, candidates, diagnostics);
    if (!value || !check_positive(*value, yaml, what, diagnostics)) return std::nullopt;
    return value;
}

std::vector<AxisDecl> read_axes(const Yaml& yaml, Diagnostics& diagnostics) {
    std::vector<AxisDecl> axes;
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
    const SizeLookup lookup = [&](std::string_view name) -> std::optional<i64> {
        const std::vector<std::string_view>::const_iterator found = std::find(names.begin(), names.end(), name);
        if (found == names.end()) return std::nullopt;
        return std::max<i64>(sizes[found - names.begin()], 0);
    };
    std::vector<SizeProblem> problems(entries->size());
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < entries->size(); ++i) {
            if (sizes[i] != -1) continue;
            const Yaml& value = (*entries)[i].value;
            const std::string what = fmt::format("axis '{}'", names[i]);
            problems[i] = {};
            const std::optional<i64> size = evaluate(value, what, lookup, problems[i], diagnostics);
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
