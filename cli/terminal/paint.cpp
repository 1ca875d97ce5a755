#include "cli/terminal/paint.h"

#include <array>
#include <fmt/format.h>

namespace shard {

std::string Paint::operator()(std::string_view code, std::string_view text) const {
    return on && !code.empty() && !text.empty() ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

std::string_view axis_color(int axis) {
    static constexpr std::array<std::string_view, 6> colors = {"36", "33", "35", "32", "34", "31"};
    return colors[axis % colors.size()];
}

} // namespace shard
