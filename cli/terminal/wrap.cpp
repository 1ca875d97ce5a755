#include "cli/terminal/wrap.h"

#include "plans/base/characters.h"
#include "plans/base/printable.h"

#include <algorithm>

namespace shard {

namespace {

// Bytes of the text's front that take at most `width` columns; at least one character.
size_t front_that_fits(std::string_view text, size_t width) {
    size_t end = 0;
    while (end < text.size()) {
        const size_t next = end + std::max<size_t>(1, utf8_length(text.substr(end)));
        if (end > 0 && display_width(text.substr(0, next)) > width) break;
        end = next;
    }
    return end;
}

// A line may end there: between the parts of a name or of a list, never inside "0..3".
bool parts_at(std::string_view text, size_t at) {
    if (at >= text.size()) return false; // one wide character is left
    const bool dot = text[at] == '.' && text[at - 1] != '.' && at + 1 < text.size() && text[at + 1] != '.';
    return dot || text[at - 1] == '/' || text[at - 1] == ',';
}

// Between the words of one part of a name: multi_head, MultiHead.
bool parts_words_at(std::string_view text, size_t at) {
    const auto is_large = [](char c) { return c >= 'A' && c <= 'Z'; };
    return text[at - 1] == '_' ||
           (at < text.size() && is_large(text[at]) && is_letter(text[at - 1]) && !is_large(text[at - 1]));
}

// The last space among the first `most` bytes and the one behind them that parts no number from its unit; else the
// last; npos if there is none.
size_t last_break(std::string_view text, size_t most) {
    const size_t last = text.rfind(' ', most);
    for (size_t at = last; at != std::string_view::npos && at > 0; at = text.rfind(' ', at - 1)) {
        const size_t before = text.rfind(' ', at - 1);
        const size_t word = before == std::string_view::npos ? 0 : before + 1;
        const bool parts_unit =
            is_digit(text[word]) && is_digit(text[at - 1]) && at + 1 < text.size() && !is_digit(text[at + 1]);
        if (!parts_unit) return at;
    }
    return last;
}

} // namespace

std::vector<std::string> broken(std::string_view text, size_t width) {
    std::vector<std::string> lines;
    while (display_width(text) > width) {
        const size_t most = front_that_fits(text, width);
        size_t end = last_break(text, most);
        constexpr size_t narrow = 48; // a column of a table, where the parts of a type stay whole
        const size_t comma = text.substr(0, most + 1).rfind(", ");
        if (width < narrow && comma != std::string_view::npos && comma > most / 2) end = comma + 1;
        const bool between_words = end != std::string_view::npos && end > 0;
        if (!between_words)
            for (end = most; end > 1 && !parts_at(text, end);) --end;
        if (!between_words && end <= 1) // not even that: between the words of a name
            for (end = most; end > 1 && !parts_words_at(text, end);) --end;
        if ((!between_words && end <= 1) || end > most) end = most;
        lines.emplace_back(text.substr(0, end));
        text.remove_prefix(end);
        text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    }
    if (!text.empty() || lines.empty()) lines.emplace_back(text);
    return lines;
}

std::string hanging(std::string_view text, size_t width, size_t indent) {
    if (width == 0) return std::string(text);
    std::string out;
    constexpr size_t least = 20; // columns that a text is given, however far it hangs
    for (const std::string& line : broken(text, std::max(width, indent + least) - indent))
        out += (out.empty() ? "" : "\n" + std::string(indent, ' ')) + line;
    return out;
}

std::string entries_broken(std::string_view text, size_t width) {
    constexpr size_t least = 20, deeper = 4; // columns that a text beside another has; else it stands below
    std::string out;
    while (!text.empty()) {
        const size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        const size_t begin = std::min(line.find_first_not_of(' '), line.size());
        const size_t gap = line.find("  ", begin);
        const size_t column = gap == std::string_view::npos ? begin : line.find_first_not_of(' ', gap);
        if (display_width(line) <= width || column == std::string_view::npos) {
            out += line;
        } else if (column + least <= width || column == begin) {
            out += line.substr(0, column);
            out += hanging(line.substr(column), width, column);
        } else {
            out += line.substr(0, begin);
            out += hanging(line.substr(begin, gap - begin), width, begin);
            out += '\n' + std::string(begin + deeper, ' ');
            out += hanging(line.substr(column), width, begin + deeper);
        }
        out += '\n';
    }
    return out;
}

} // namespace shard
