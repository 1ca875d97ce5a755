// The lines of a text while it is laid out: what stands in each, and the comment behind it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shard {

inline constexpr size_t style_width = 120; // columns, without comments behind a line

class StyledLines {
public:
    void begin(size_t indent, bool blank_before = false);
    void append(std::string_view text);
    void detach();                   // the last line's comment goes above it: a scalar goes on behind the line
    void verbatim(std::string text); // a line that is as it is, blanks at its end too
    // A comment behind the current line; one that stands there already goes above it.
    void attach(std::string comment);
    void comment_line(std::string comment, size_t indent, bool blank_before);
    void comment_above(std::string comment); // the current line, as far in

    bool empty() const { return lines_.empty(); }
    size_t count() const { return lines_.size(); }
    size_t column() const; // behind the current line, from 0
    bool has_comment() const { return !lines_.empty() && !lines_.back().comment.empty(); }

    // Moves [first, count()) so that the part that begins at starts[order[0]] comes first.
    void reorder(const std::vector<size_t>& starts, const std::vector<size_t>& order);
    // The last run of comments above line `before` that a blank line parts from others: where it begins.
    size_t last_paragraph(size_t before) const;

    // Comments behind lines that follow one another stand below each other.
    std::string text(std::string_view line_break) const;

private:
    struct Line {
        std::string text, comment = {};
        bool blank_before = false, is_verbatim = false;
    };
    std::vector<Line> lines_;
};

} // namespace shard
