#include "planner/text/yaml_marks.h"

#include <algorithm>
#include <cctype>

namespace shard {

bool is_anchor_name(std::string_view name) {
    return std::all_of(name.begin(), name.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
    });
}

bool is_document_mark(std::string_view plain) {
    return (plain.starts_with("---") || plain.starts_with("...")) && (plain.size() == 3 || plain[3] == ' ');
}

bool writes_null(std::string_view text, size_t offset) {
    while (offset < text.size() && text[offset] == '&')
        offset = skip_yaml_blanks(text, yaml_property_end(text, offset));
    const size_t end = std::min(text.find_first_of(" \t\r\n,]}:", offset), text.size());
    const std::string_view word = text.substr(offset, end - offset);
    const size_t next = text.find_first_not_of(" \t", end);
    return (word == "~" || word == "null" || word == "Null" || word == "NULL") &&
           (next == std::string_view::npos || text[next] != ':');
}

std::optional<size_t> comment_in_block_header(std::string_view text, size_t offset) {
    const size_t end = text.find_first_not_of("+-0123456789", offset + 1);
    return end < text.size() && text[end] == '#' ? std::optional(end) : std::nullopt;
}

namespace {

std::string_view without_blanks_behind(std::string_view text) {
    return text.substr(0, text.find_last_not_of(" \t") + 1); // npos + 1 is 0
}

} // namespace

std::optional<size_t> question_mark_before(const TextPlaces& places, size_t offset, bool in_flow, const YamlMap& map) {
    const std::string_view text = places.text();
    const size_t before = text.substr(0, offset).find_last_not_of(" \t\r\n");
    if (before == std::string_view::npos || text[before] != '?') return std::nullopt;
    const size_t line = before == 0 ? 0 : text.rfind('\n', before - 1) + 1; // npos + 1 is 0
    if (next_comment(places, line) < before) return std::nullopt;
    std::string_view rest = text.substr(line, before - line);
    if (!rest.empty() && std::string_view(in_flow ? " \t[{," : " \t").find(rest.back()) == std::string_view::npos)
        return std::nullopt; // why?
    // Behind other marks, a key, or what begins an item.
    for (rest = without_blanks_behind(rest); rest.ends_with('-') || rest.ends_with('?');
         rest = without_blanks_behind(rest)) {
        rest.remove_suffix(1);
        if (!rest.empty() && !rest.ends_with(' ') && !rest.ends_with('\t')) return std::nullopt;
    }
    const bool is_mark =
        rest.empty() || std::string_view(in_flow ? ":[{," : ":").find(rest.back()) != std::string::npos;
    const bool continues = !in_flow && !map.empty() && places.at(before).column > map.front().key_span.column;
    return is_mark && !continues ? std::optional(before) : std::nullopt; // else the last line of the text before
}

bool at_question_mark(std::string_view text, size_t offset) {
    if (offset >= text.size()) return false;
    const size_t line = offset == 0 ? 0 : text.rfind('\n', offset - 1) + 1;
    const size_t start = text.substr(line, offset - line + 1).find_last_not_of(" \t");
    return start != std::string_view::npos && text[line + start] == '?';
}

bool stands_right_of(const TextPlaces& places, size_t offset, const Span& key) {
    const Span at = places.at(offset);
    if (at.line == key.line || at.column > key.column) return true;
    const size_t begin = offset - static_cast<size_t>(at.column - 1);
    return places.text().substr(begin, offset - begin).find_first_not_of(" \t") != std::string_view::npos;
}

int plain_length(std::string_view text, size_t offset) {
    const size_t end = std::min(text.find_first_of(" \t\r\n,]}", offset), text.size());
    return static_cast<int>(end - std::min(offset, end));
}

} // namespace shard
