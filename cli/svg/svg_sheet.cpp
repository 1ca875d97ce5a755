#include "cli/svg/svg_sheet.h"

#include "cli/html/frame.h"
#include "cli/html/words.h"
#include "plans/base/printable.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace shard {

namespace {

constexpr double letter = 6.3, margin = 16;

// "--name:light-dark(one,other)" of the page's style.
std::map<std::string, std::pair<std::string, std::string>, std::less<>> page_colors() {
    std::map<std::string, std::pair<std::string, std::string>, std::less<>> colors;
    const std::string_view style = page_asset("style"), mark = ":light-dark(";
    for (size_t at = style.find(mark); at != std::string_view::npos; at = style.find(mark, at + 1)) {
        const size_t name = style.rfind("--", at), comma = style.find(',', at), end = style.find(')', at);
        if (style.substr(name, at - name).find_first_of(";{} ") != std::string_view::npos) continue; // no variable
        const size_t light = at + mark.size();
        colors[std::string(style.substr(name, at - name))] = {std::string(style.substr(light, comma - light)),
                                                              std::string(style.substr(comma + 1, end - comma - 1))};
    }
    return colors;
}

// Programs that draw SVG know neither variables nor light-dark(): the style is written out twice.
std::string drawing_style() {
    const std::map<std::string, std::pair<std::string, std::string>, std::less<>> colors = page_colors();
    std::string light, dark;
    std::string_view rest = page_asset("drawing");
    rest.remove_prefix(rest.find("*/") + 3);
    while (!rest.empty()) {
        const size_t at = rest.find("var(");
        light += rest.substr(0, at);
        dark += rest.substr(0, at);
        if (at == std::string_view::npos) break;
        const size_t end = rest.find(')', at);
        const auto& [day, night] = colors.at(std::string(rest.substr(at + 4, end - at - 4)));
        light += day;
        dark += night;
        rest.remove_prefix(end + 1);
    }
    return "\n" + light + "@media(prefers-color-scheme:dark){\n" + dark + "}\n";
}

} // namespace

double text_width(std::string_view text) { return letter * static_cast<double>(display_width(text)); }

void SvgSheet::reach(double x, double y) {
    right_ = std::max(right_, x);
    bottom_ = std::max(bottom_, y);
}

double SvgSheet::text(double x, double y, std::string_view kind, std::string_view text) {
    out_.open("text", {{"class", kind}, {"x", px(x + margin)}, {"y", px(y + margin)}});
    if (kind == "soft place") // the name of a file may be that of an axis
        out_.text(text);
    else
        write_axes(out_, *mesh_, text, "tspan");
    out_.close().line();
    const double width = text_width(text) * (kind == "title" ? 1.4 : 1.05);
    reach(x + width, y + 4);
    return width;
}

void SvgSheet::place(double x, double y, const std::string& markup, DrawnSize size) {
    out_.open("g", {{"transform", fmt::format("translate({} {})", px(x + margin), px(y + margin))}});
    out_.append(markup).close().line();
    reach(x + size.width, y + size.height);
}

void SvgSheet::arrow(double x, double y, double length) {
    const double end = x + length + margin, at = y + margin;
    out_.leaf("path", {{"class", "arrow"},
                       {"d", fmt::format("M{0} {1}H{2}M{3} {4}L{2} {1}L{3} {5}", px(x + margin), px(at), px(end),
                                         px(end - 5), px(at - 4), px(at + 4))}});
    out_.line();
}

std::string SvgSheet::take(std::string_view title) {
    const std::string width = px(right_ + 2 * margin), height = px(bottom_ + 2 * margin);
    Markup file;
    file.open("svg", {{"xmlns", "http://www.w3.org/2000/svg"},
                      {"width", width},
                      {"height", height},
                      {"viewBox", fmt::format("0 0 {} {}", width, height)},
                      {"role", "img"}});
    file.leaf("title", {}, title).line().verbatim("style", drawing_style());
    file.leaf("rect", {{"class", "page"}, {"width", "100%"}, {"height", "100%"}}).line();
    file.append(out_.take()).close();
    return file.take() + "\n";
}

} // namespace shard
