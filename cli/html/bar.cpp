#include "cli/html/bar.h"

#include <algorithm>
#include <fmt/format.h>

namespace shard {

void write_bar(Markup& out, const std::vector<BarPart>& parts) {
    constexpr double width = 240, height = 10;
    out.open("svg", {{"class", "bar"},
                     {"viewBox", fmt::format("0 0 {} {}", width, height)},
                     {"preserveAspectRatio", "none"},
                     {"role", "img"}});
    out.leaf("rect", {{"class", "rest"}, {"width", px(width)}, {"height", px(height)}});
    double at = 0;
    for (const BarPart& part : parts) {
        const double end = std::min(width, at + part.share * width);
        out.open("rect", {{"class", part.kind}, {"x", px(at)}, {"width", px(end - at)}, {"height", px(height)}});
        out.leaf("title", {}, part.title).close();
        at = end;
    }
    out.close();
}

} // namespace shard
