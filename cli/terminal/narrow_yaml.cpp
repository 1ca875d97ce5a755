#include "cli/terminal/narrow_yaml.h"

#include "plans/base/printable.h"

#include <algorithm>

namespace shard {

namespace {

// Where a comment begins, outside of quotes; the line's end if there is none.
size_t comment_of(std::string_view line) {
    char quote = 0;
    for (size_t at = 0; at < line.size(); ++at) {
        const char c = line[at];
        if (quote == 0 && (c == '"' || c == '\''))
            quote = c;
        else if (quote == '"' && c == '\\')
            ++at;
        else if (c == quote)
            quote = 0;
        else if (quote == 0 && c == '#' && (at == 0 || line[at - 1] == ' '))
            return at;
    }
    return line.size();
}

std::string_view trimmed(std::string_view text) {
    return text.substr(0, text.find_last_not_of(' ') + 1); // npos + 1 is 0
}

// `first` in front of the text, `next` in front of what does not fit on its line.
void write(std::string& out, std::string_view text, std::string first, const std::string& next, size_t width) {
    while (true) {
        const size_t room = std::max(width, first.size() + 1) - first.size();
        size_t end = text.size();
        if (display_width(text) > room) {
            end = text.find(' ');
            for (size_t at = end; at != text.npos && display_width(text.substr(0, at)) <= room;
                 at = text.find(' ', at + 1))
                end = at;
            end = std::min(end, text.size());
        }
        out += first + std::string(trimmed(text.substr(0, end))) + "\n";
        text.remove_prefix(end);
        text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
        if (text.empty()) return;
        first = next;
    }
}

} // namespace

std::string narrow_yaml(std::string_view text, size_t width) {
    if (width == 0) return std::string(text);
    std::string out;
    while (!text.empty()) {
        const size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (display_width(line) <= width) {
            out += std::string(line) + "\n";
            continue;
        }
        const size_t comment = comment_of(line);
        const std::string blanks(std::min(line.find_first_not_of(' '), line.size()), ' ');
        if (comment < line.size()) {
            const size_t words = std::min(line.find_first_not_of("# ", comment), line.size());
            write(out, line.substr(words), blanks + "# ", blanks + "# ", width);
        }
        const std::string_view value = trimmed(line.substr(0, comment));
        if (value.size() > blanks.size()) write(out, value.substr(blanks.size()), blanks, blanks + "    ", width);
    }
    return out;
}

} // namespace shard
