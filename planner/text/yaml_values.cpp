// What scalars mean, for readers that know which type they want.
#include "planner/text/yaml_values.h"

#include "planner/text/json_key_places.h"
#include "planner/text/number_spelling.h"
#include "planner/text/yaml.h"
#include "plans/base/characters.h"
#include "plans/base/parse_number.h"
#include "plans/diagnostics/suggestion.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace shard {

namespace {

void wrong_type(const Yaml& yaml, std::string_view what, std::string_view wanted, Diagnostics& diagnostics) {
    DiagnosticBuilder error =
        diagnostics.error("E0113", yaml.span, fmt::format("{}: expected {}, found {}", what, wanted, yaml.kind()));
    if (wanted == "a map" || yaml.kind() != "a string") return;
    if (const std::string help = number_spelling_help(yaml.scalar()->text); !help.empty()) error.help(help);
}

// Words of Python, and of YAML before 1.2; empty for others.
std::string_view bool_meant_by(std::string_view text) {
    for (const std::string_view word : {"True", "TRUE", "yes", "Yes", "on", "On"})
        if (text == word) return "true";
    for (const std::string_view word : {"False", "FALSE", "no", "No", "off", "Off"})
        if (text == word) return "false";
    return {};
}

std::string_view without_sign(std::string_view text) {
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
    return text;
}

bool has_leading_zero(std::string_view digits) { return digits.size() > 1 && digits[0] == '0' && digits[1] != '.'; }

// .inf, -.inf and .nan in the spellings of YAML 1.2.
std::optional<double> special_number(std::string_view text) {
    const std::string_view plain = without_sign(text);
    for (std::string_view word : {".inf", ".Inf", ".INF"})
        if (plain == word) return text.starts_with('-') ? -HUGE_VAL : HUGE_VAL;
    for (std::string_view word : {".nan", ".NaN", ".NAN"})
        if (text == word) return std::nan("");
    return std::nullopt;
}

// Digits, one point, an exponent: what YAML calls a float, with at least one digit before the exponent; or one of the
// special ones.
bool looks_like_number(std::string_view text) {
    if (special_number(text)) return true;
    text = without_sign(text);
    const size_t e = text.find_first_of("eE");
    if (e != std::string_view::npos && !all_digits(without_sign(text.substr(e + 1)))) return false;
    std::string digits(text.substr(0, e));
    const size_t point = digits.find('.');
    if (point != std::string::npos) digits.erase(point, 1);
    return all_digits(digits);
}

bool report_leading_zero(const Yaml& yaml, std::string_view what, std::string_view text, Diagnostics& diagnostics) {
    if (!has_leading_zero(without_sign(text))) return false;
    diagnostics.error("E0115", yaml.span, fmt::format("{}: '{}' has a leading zero", what, text))
        .note("some YAML readers take such a number for octal")
        .help("remove the zero");
    return true;
}

} // namespace

const Yaml* Yaml::find(std::string_view key) const {
    const YamlMap* entries = map();
    if (entries == nullptr) return nullptr;
    for (const YamlEntry& entry : *entries)
        if (entry.key == key) return &entry.value;
    return nullptr;
}

std::string_view Yaml::kind() const {
    if (is_null()) return "nothing";
    if (list() != nullptr) return "a list";
    if (map() != nullptr) return "a map";
    if (scalar()->quoted) return "a string";
    const std::string& text = scalar()->text;
    if (text == "true" || text == "false") return "true or false";
    return looks_like_number(text) ? "a number" : "a string";
}

std::optional<i64> read_int(const Yaml& yaml, std::string_view what, Diagnostics& diagnostics) {
    const YamlScalar* scalar = yaml.scalar();
    if (scalar == nullptr || scalar->quoted || !looks_like_number(scalar->text)) {
        wrong_type(yaml, what, "an integer", diagnostics);
        return std::nullopt;
    }
    const std::string_view text = scalar->text;
    if (!all_digits(without_sign(text))) {
        diagnostics.error("E0113", yaml.span, fmt::format("{}: expected an integer, found '{}'", what, text));
        return std::nullopt;
    }
    if (report_leading_zero(yaml, what, text, diagnostics)) return std::nullopt;
    const std::optional<i64> value = parse_number<i64>(text.starts_with('+') ? text.substr(1) : text);
    if (!value) diagnostics.error("E0115", yaml.span, fmt::format("{}: {} does not fit in 64 bits", what, text));
    return value;
}

std::optional<double> read_element(const Yaml& yaml, std::string_view what, Diagnostics& diagnostics) {
    if (yaml.kind() != "a number") {
        wrong_type(yaml, what, "a number", diagnostics);
        return std::nullopt;
    }
    const std::string_view text = yaml.scalar()->text;
    if (const std::optional<double> special = special_number(text)) return special;
    if (report_leading_zero(yaml, what, text, diagnostics)) return std::nullopt;
    double value = 0;
    const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
    const std::from_chars_result result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (result.ec != std::errc()) {
        diagnostics.error("E0115", yaml.span, fmt::format("{}: {} is out of range", what, text));
        return std::nullopt;
    }
    return value;
}

std::optional<double> read_double(const Yaml& yaml, std::string_view what, Diagnostics& diagnostics) {
    const std::optional<double> value = read_element(yaml, what, diagnostics);
    if (!value || std::isfinite(*value)) return value;
    diagnostics.error("E0115", yaml.span,
                      fmt::format("{}: expected a finite number, found {}", what, yaml.scalar()->text));
    return std::nullopt;
}

std::optional<bool> read_bool(const Yaml& yaml, std::string_view what, Diagnostics& diagnostics) {
    const YamlScalar* scalar = yaml.scalar();
    if (scalar != nullptr && !scalar->quoted) {
        if (scalar->text == "true") return true;
        if (scalar->text == "false") return false;
        DiagnosticBuilder error = diagnostics.error(
            "E0113", yaml.span, fmt::format("{}: expected true or false, found '{}'", what, scalar->text));
        if (const std::string_view meant = bool_meant_by(scalar->text); !meant.empty())
            error.help(fmt::format("did you mean '{}'?", meant));
        return std::nullopt;
    }
    wrong_type(yaml, what, "true or false", diagnostics);
    return std::nullopt;
}

std::optional<std::string> read_string(const Yaml& yaml, std::string_view what, Diagnostics& diagnostics) {
    const YamlScalar* scalar = yaml.scalar();
    if (scalar == nullptr) {
        wrong_type(yaml, what, "a string", diagnostics);
        return std::nullopt;
    }
    if (yaml.kind() != "a string") {
        DiagnosticBuilder error =
            diagnostics.error("E0113", yaml.span, fmt::format("{}: expected a string, found {}", what, yaml.kind()));
        // A number in quotes is no name either.
        if (yaml.kind() == "true or false")
            error.help(fmt::format("if it is one, put it in quotes: \"{}\"", scalar->text));
        return std::nullopt;
    }
    return scalar->text;
}

namespace {

// Those that are known here, and where the key is one, if that says where it was meant to stand.
std::string known_keys(std::string_view key, const std::vector<std::string_view>& known) {
    constexpr size_t most_places = 2;
    const std::string here = fmt::format("{}", fmt::join(known, ", "));
    const std::span<const std::string> places = places_of_key(key);
    if (places.empty() || places.size() > most_places) return "known keys: " + here;
    return fmt::format("'{}' is a key {}; here there are {}", key, fmt::join(places, " and "), here);
}

// The one key that begins or ends with all of the words of this one: max_memory, of max_memory_per_device.
std::string longer_key(std::string_view key, const std::vector<std::string_view>& known, std::string otherwise) {
    constexpr size_t least = 5; // of a key that says enough
    std::vector<std::string_view> longer;
    std::copy_if(known.begin(), known.end(), std::back_inserter(longer), [key](std::string_view candidate) {
        return candidate.starts_with(fmt::format("{}_", key)) || candidate.ends_with(fmt::format("_{}", key));
    });
    if (key.size() < least || longer.size() != 1) return otherwise;
    return fmt::format("did you mean '{}'?", longer[0]);
}

// The nearest of those that are not there yet, or else of all: a key stands once.
std::string key_meant_by(std::string_view key, const Yaml& yaml, const std::vector<std::string_view>& known) {
    std::vector<std::string_view> absent;
    std::copy_if(known.begin(), known.end(), std::back_inserter(absent),
                 [&](std::string_view candidate) { return yaml.find(candidate) == nullptr; });
    return did_you_mean(key, absent, did_you_mean(key, known, longer_key(key, known, known_keys(key, known))));
}

} // namespace

bool check_keys(const Yaml& yaml, const std::vector<std::string_view>& known, std::string_view what,
                Diagnostics& diagnostics) {
    const YamlMap* entries = yaml.map();
    if (entries == nullptr) {
        wrong_type(yaml, what, "a map", diagnostics);
        return false;
    }
    for (const YamlEntry& entry : *entries) {
        if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
        diagnostics.error("E0114", entry.key_span, fmt::format("unknown key '{}' in {}", entry.key, what))
            .help(key_meant_by(entry.key, yaml, known));
    }
    return true;
}

} // namespace shard
