// A line of the text of a graph, read from left to right. The first problem is reported at its place; after it nothing
// is read any more, so a caller looks at `ok` at the end.
//
//     LineScanner at("h: f32 (8, 4)", {file, 12, 1}, diagnostics);
//     std::string_view name = at.word();    // "h"
//     at.expect(":");
#pragma once

#include "plans/base/base.h"
#include "plans/diagnostics/diagnostic.h"

#include <string_view>

namespace shard {

class LineScanner {
public:
    // `begin`: the place of the line's first byte.
    LineScanner(std::string_view line, Span begin, Diagnostics& diagnostics)
        : line_(line), begin_(begin), diagnostics_(&diagnostics) {}

    bool ok() const { return ok_; }
    bool at_end(); // nothing but blanks is left, or something was wrong
    // All that follow pass over blanks first. What cannot be read is "" or 0.
    bool next_is(std::string_view text);
    bool take(std::string_view text); // goes behind it, if it is next
    void expect(std::string_view text);
    std::string_view word();                      // of letters, digits, '_', '-', '.', '#' and '\''
    std::string_view until(std::string_view end); // which is not taken; the rest of the line if it is not there
    std::string_view until_any(std::string_view ends);
    // Up to the last one of those in front of `limit`.
    std::string_view until_last(std::string_view end, std::string_view limit);
    i64 integer();
    Span place(); // of what is next
    void problem(std::string what) { problem(place(), std::move(what)); }
    void problem(Span span, std::string what); // E0508

private:
    void pass_blanks();

    std::string_view line_;
    Span begin_;
    Diagnostics* diagnostics_;
    size_t at_ = 0;
    bool ok_ = true;
};

} // namespace shard
