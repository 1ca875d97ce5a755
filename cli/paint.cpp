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

std::string printable(std::string_view text) {
    std::string result;
    for (char c : text) result += (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f ? '?' : c;
    return result;
}

} // namespace shard
