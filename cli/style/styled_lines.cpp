#include "cli/style/styled_lines.h"

#include <algorithm>
#include <utility>

namespace shard {

namespace {

size_t columns(std::string_view text) {
    return static_cast<size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// "- &x", "k: !!map": the value stands below.
bool ends_in_property(std::string_view line) {
    line = line.substr(0, line.find_last_not_of(' ') + 1); // npos + 1 is 0
    const size_t last = line.find_last_of(' ') + 1;
    return last < line.size() && (line[last] == '&' || line[last] == '!');
}

} // namespace

void StyledLines::begin(size_t indent, bool blank_before) {
    lines_.push_back({std::string(indent, ' '), {}, blank_before});
}

void StyledLines::append(std::string_view text) { lines_.back().text += text; }

void StyledLines::verbatim(std::string text) { lines_.push_back({std::move(text), {}, false, true}); }

void StyledLines::attach(std::string comment) {
    if (has_comment()) comment_above(std::move(lines_.back().comment));
    lines_.back().comment = std::move(comment);
}

void StyledLines::detach() {
    if (has_comment()) comment_above(std::exchange(lines_.back().comment, {}));
}

void StyledLines::comment_line(std::string comment, size_t indent, bool blank_before) {
    lines_.push_back({std::string(indent, ' ') + comment, {}, blank_before});
}

void StyledLines::comment_above(std::string comment) {
    std::vector<Line>::iterator at = lines_.end() - 1;
    while (at->is_verbatim && at != lines_.begin()) --at;                  // never inside a scalar
    while (at != lines_.begin() && ends_in_property((at - 1)->text)) --at; // nor between an anchor and its value
    const size_t indent = std::min(at->text.find_first_not_of(' '), at->text.size());
    Line line{std::string(indent, ' ') + comment, {}, at->blank_before};
    at->blank_before = false;
    lines_.insert(at, std::move(line));
}

size_t StyledLines::column() const { return columns(lines_.back().text); }

void StyledLines::reorder(const std::vector<size_t>& starts, const std::vector<size_t>& order) {
    std::vector<Line> moved(lines_.begin(), lines_.begin() + static_cast<std::ptrdiff_t>(starts.front()));
    for (const size_t part : order) {
        const size_t end = part + 1 < starts.size() ? starts[part + 1] : lines_.size();
        moved.insert(moved.end(), lines_.begin() + static_cast<std::ptrdiff_t>(starts[part]),
                     lines_.begin() + static_cast<std::ptrdiff_t>(end));
    }
    lines_ = std::move(moved);
}

size_t StyledLines::last_paragraph(size_t before) const {
    size_t first = before;
    while (first > 0 && !(first < lines_.size() && lines_[first].blank_before)) --first;
    return first == 0 ? before : first;
}

std::string StyledLines::text(std::string_view line_break) const {
    std::string out;
    for (size_t i = 0; i < lines_.size();) {
        size_t end = i + 1, widest = 0;
        const bool has_comment = !lines_[i].comment.empty();
        while (has_comment && end < lines_.size() && !lines_[end].comment.empty() && !lines_[end].blank_before) ++end;
        for (size_t line = i; line < end; ++line) widest = std::max(widest, columns(lines_[line].text));
        for (; i < end; ++i) {
            const Line& line = lines_[i];
            if (line.blank_before && i > 0) out += line_break;
            std::string text = line.text;
            if (!line.comment.empty()) text += std::string(widest - columns(text) + 2, ' ') + line.comment;
            if (!line.is_verbatim) text.erase(text.find_last_not_of(' ') + 1); // npos + 1 is 0
            out += text;
            out += line_break;
        }
    }
    return out;
}

} // namespace shard
