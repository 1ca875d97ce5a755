#include "planner/read/places.h"

#include "planner/text/yaml_values.h"
#include "plans/base/parse_number.h"
#include "plans/base/printable.h"

#include <algorithm>
#include <set>

namespace shard {

namespace {

constexpr size_t most_files = 1000;

struct Place {
    std::string_view file; // empty: it is none
    int line = 0, column = 1;
};

// Takes ":214" from the end.
std::optional<int> take_number(std::string_view& text) {
    const size_t colon = text.rfind(':');
    if (colon == std::string_view::npos || colon == 0) return std::nullopt;
    const std::optional<int> number = parse_number<int>(text.substr(colon + 1));
    if (!number || *number <= 0) return std::nullopt;
    text = text.substr(0, colon);
    return number;
}

// "model.py:214" or "step.mlir:12:30".
Place place_in(std::string_view text) {
    const std::optional<int> last = take_number(text);
    if (!last) return {};
    const std::optional<int> before = take_number(text);
    return before ? Place{text, *before, *last} : Place{text, *last};
}

// A name alone: a program that the model was just made of is among the sources with its text too.
int find_named(const Sources& sources, std::string_view name) {
    for (int file = 0; file < sources.count(); ++file)
        if (sources.name(file) == name && sources.text(file).empty()) return file;
    return -1;
}

// By the look of the text, since large models are read once: what only looks like a place adds a name that nobody uses.
std::vector<std::string> named_files(std::string_view text) {
    constexpr std::string_view key = "at: ";
    std::set<std::string_view> seen;
    std::vector<std::string> names;
    for (size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
        if (at == 0 || std::string_view(" ,{").find(text[at - 1]) == std::string_view::npos) continue;
        std::string_view value = text.substr(at + key.size());
        const bool quoted = value.starts_with('"') || value.starts_with('\'');
        if (quoted) value.remove_prefix(1);
        value = value.substr(0, value.find_first_of(quoted ? "\"'\n" : ",} \n"));
        const Place place = place_in(value);
        if (place.file.empty() || printable(place.file) != place.file || !seen.insert(place.file).second) continue;
        if (names.size() == most_files) break;
        names.emplace_back(place.file);
    }
    return names;
}

} // namespace

void load_places(Sources& sources, int model_file) {
    for (std::string& name : named_files(sources.text(model_file)))
        if (find_named(sources, name) < 0) sources.add(std::move(name), "");
}

std::vector<int> files_of_places(const Sources& sources, int model_file) {
    std::vector<int> files;
    for (const std::string& name : named_files(sources.text(model_file)))
        if (const int file = find_named(sources, name); file >= 0) files.push_back(file);
    return files;
}

Span read_place(const Yaml& yaml, const Sources* sources, Diagnostics& diagnostics) {
    const std::optional<std::string> text = read_string(yaml, "at", diagnostics);
    if (!text) return {};
    const Place place = place_in(*text);
    if (place.file.empty()) {
        diagnostics.error("E0113", yaml.span, "at: expected a file and a line").help("write at: \"model.py:214\"");
        return {};
    }
    return sources == nullptr ? Span{} : Span{find_named(*sources, place.file), place.line, place.column, 0};
}

} // namespace shard
