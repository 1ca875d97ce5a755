#include "cli/paint.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace shard {

std::string Paint::operator()(std::string_view code, std::string_view text) const {
    return on && !code.empty() && !text.empty() ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

std::string_view axis_color(int axis) {
    static constexpr std::array<std::string_view, 6> colors = {"36", "33", "35", "32", "34", "31"};
    return colors[static_cast<size_t>(axis) % colors.size()];
}

size_t display_width(std::string_view text) {
    return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

namespace {

// Bytes of the well-formed UTF-8 character at the front of `text`; 0 if there is none. C1 control characters count as
// none.
size_t character_length(std::string_view text) {
    unsigned char first = static_cast<unsigned char>(text[0]);
    size_t length = first < 0x80                    ? 1
                    : first >= 0xC2 && first < 0xE0 ? 2
                    : (first & 0xF0) == 0xE0        ? 3
                    : first >= 0xF0 && first < 0xF5 ? 4
                                                    : 0;
    if (length == 0 || length > text.size()) return 0;
    for (size_t i = 1; i < length; ++i)
        if ((text[i] & 0xC0) != 0x80) return 0;
    bool c1 = first == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0;
    return c1 ? 0 : length;
}

} // namespace

std::string printable(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        size_t length = character_length(text);
        bool control = (static_cast<unsigned char>(text[0]) < 0x20 && text[0] != '\t') || text[0] == 0x7f;
        if (length == 0 || control)
            result += '?';
        else
            result += text.substr(0, length);
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return result;
}

} // namespace shard
