#include "cli/inputs/added_key.h"

#include <fmt/format.h>

namespace shard {

namespace {

size_t offset_of(std::string_view text, const Span& span) {
    size_t start = 0;
    for (int line = 1; line < span.line; ++line) start = text.find('\n', start) + 1;
    return start + static_cast<size_t>(span.column - 1);
}

// The brace that closes the one at `open`; npos: none does.
size_t closing_brace(std::string_view text, size_t open) {
    int depth = 0;
    char quote = 0;
    for (size_t i = open; i < text.size(); ++i) {
        const char c = text[i];
        if (quote != 0) {
            const bool is_escaped = quote == '"' ? c == '\\' : text.substr(i).starts_with("''");
            if (is_escaped)
                ++i;
            else if (c == quote)
                quote = 0;
            continue;
        }
        const char before = text[i - (i > 0 ? 1 : 0)];
        if (c == '#' && (before == ' ' || before == '\n' || before == '\t'))
            i = std::min(text.find('\n', i), text.size());
        if ((c == '"' || c == '\'') && std::string_view(" \t\n{[,:").find(before) != std::string_view::npos) quote = c;
        if (c == '{' || c == '[') ++depth;
        if ((c == '}' || c == ']') && --depth == 0) return i;
    }
    return std::string_view::npos;
}

// "fsdp.axis", "data" -> "fsdp: {axis: data}"
std::string entry_text(std::string_view path, std::string_view value) {
    const size_t dot = path.find('.');
    if (dot == std::string_view::npos) return fmt::format("{}: {}", path, value);
    return fmt::format("{}: {{{}}}", path.substr(0, dot), entry_text(path.substr(dot + 1), value));
}

} // namespace

std::optional<std::string> with_added_key(std::string_view text, const Yaml& yaml, std::string_view path,
                                          std::string_view value) {
    if (yaml.map() == nullptr) return std::nullopt;
    const size_t dot = path.find('.');
    if (const Yaml* inner = yaml.find(path.substr(0, dot)))
        return dot == std::string_view::npos ? std::nullopt : with_added_key(text, *inner, path.substr(dot + 1), value);
    const std::string entry = entry_text(path, value);
    const size_t start = offset_of(text, yaml.span);
    if (start < text.size() && text[start] == '{') {
        const size_t close = closing_brace(text, start);
        if (close == std::string_view::npos) return std::nullopt;
        const bool is_empty = yaml.map()->empty();
        return fmt::format("{}{}{}{}", text.substr(0, close), is_empty ? "" : ", ", entry, text.substr(close));
    }
    if (yaml.map()->empty()) return std::nullopt;
    const int indent = yaml.map()->front().key_span.column - 1;
    return fmt::format("{}{}{:{}}{}\n", text, text.ends_with('\n') ? "" : "\n", "", indent, entry);
}

} // namespace shard
