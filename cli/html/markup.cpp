#include "cli/html/markup.h"

#include "plans/base/base.h"
#include "plans/base/printable.h"

#include <algorithm>
#include <fmt/format.h>

namespace shard {

namespace {

std::string escaped(std::string_view text) {
    std::string out;
    for (char c : printable(text)) {
        switch (c) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '"':
            out += "&quot;";
            break;
        default:
            out += c;
        }
    }
    return out;
}

} // namespace

void Markup::begin(std::string_view tag, Attributes attributes) {
    out_ += '<';
    out_ += tag;
    for (const auto& [name, value] : attributes) out_ += fmt::format(" {}=\"{}\"", name, escaped(value));
}

Markup& Markup::open(std::string_view tag, Attributes attributes) {
    begin(tag, attributes);
    out_ += '>';
    open_.emplace_back(tag);
    return *this;
}

Markup& Markup::close() {
    internal_check(!open_.empty(), "an element is closed that was not opened");
    out_ += "</" + open_.back() + ">";
    open_.pop_back();
    return *this;
}

Markup& Markup::text(std::string_view text) {
    out_ += escaped(text);
    return *this;
}

Markup& Markup::line() {
    out_ += '\n';
    return *this;
}

Markup& Markup::leaf(std::string_view tag, Attributes attributes, std::string_view text) {
    // HTML has elements that are never closed, SVG those that may close themselves; all others are written out.
    static constexpr std::string_view alone[] = {"meta", "input", "wbr", "rect", "line", "path", "circle", "polyline"};
    begin(tag, attributes);
    const bool is_alone = std::find(std::begin(alone), std::end(alone), tag) != std::end(alone);
    out_ += is_alone ? "/>" : fmt::format(">{}</{}>", escaped(text), tag);
    return *this;
}

Markup& Markup::append(const std::string& markup) {
    out_ += markup;
    return *this;
}

Markup& Markup::verbatim(std::string_view tag, std::string_view contents) {
    out_ += fmt::format("<{0}>{1}</{0}>\n", tag, contents);
    return *this;
}

std::string Markup::take() {
    internal_check(open_.empty(), "an element is not closed");
    return std::move(out_);
}

std::string px(double length) {
    std::string out = fmt::format("{:.1f}", length);
    if (out.ends_with(".0")) out.resize(out.size() - 2);
    return out == "-0" ? "0" : out;
}

} // namespace shard
