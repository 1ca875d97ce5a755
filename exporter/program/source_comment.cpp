#include "exporter/program/source_comment.h"

#include "plans/base/printable.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

std::string line_of(const Plan& plan, const SourceRef& source) {
    for (const SourceText& text : plan.sources) {
        if (text.name != source.file) continue;
        size_t from = 0;
        for (int n = 1; n < source.line && from != std::string::npos; ++n) {
            from = text.text.find('\n', from);
            if (from != std::string::npos) ++from;
        }
        if (from == std::string::npos) continue;
        const std::string line = text.text.substr(from, text.text.find('\n', from) - from);
        return line.substr(std::min(line.find_first_not_of(" "), line.size()));
    }
    return "";
}

} // namespace

std::string source_comment(const Plan& plan, const SourceRef& source, std::string_view margin) {
    std::string text = printable(fmt::format("{} {}:{}  {}", margin, source.file, source.line, line_of(plan, source)));
    constexpr size_t width = 88;
    if (text.size() > width) {
        size_t end = width - 3;
        while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end; // not inside a character
        text = text.substr(0, end) + "...";
    }
    while (text.back() == ' ') text.pop_back();
    return text + "\n";
}

} // namespace shard
