// Bytes of a YAML file before any YAML is read: is this text at all, and where is byte n?
#pragma once

#include "plans/base/base.h"
#include "plans/diagnostics/diagnostic.h"

#include <optional>
#include <vector>

namespace shard {

constexpr size_t max_yaml_bytes = size_t{64} << 20;
constexpr i64 max_yaml_marks = 2'000'000;
constexpr int max_yaml_depth = 64; // of lists and maps in each other

// "UTF-16", "UTF-32LE" and the like, with a byte order mark or without one, since a file begins with a character of
// ASCII; empty: none of these.
std::string_view other_encoding(std::string_view text);
// E0108.
void report_encoding(std::string_view encoding, Span place, Diagnostics& diagnostics);

// UTF-8 without control characters, at most max_yaml_bytes; reports E0107, E0108 and returns false otherwise.
// A byte order mark of UTF-8 is allowed at the start.
bool check_yaml_text(const Sources& sources, int file, Diagnostics& diagnostics);

// Where the next thing begins that is neither blank nor comment; `at` does not stand within either.
size_t skip_yaml_blanks(std::string_view text, size_t at);
// Behind the anchor or tag at a place, as yaml-cpp reads them: in brackets or not, no bracket and no comma is part of a name.
size_t yaml_property_end(std::string_view text, size_t at);

// Byte offset -> line and column, both from 1.
class TextPlaces {
public:
    TextPlaces(const Sources& sources, int file);
    Span at(size_t offset, int length = 1) const;
    std::string_view text() const { return text_; }
    size_t end_of_line(size_t offset) const; // offset of the line's '\n' or '\r', or of the end of the text

private:
    int file_ = -1;
    std::string_view text_;
    std::vector<size_t> line_starts_;
};

// Walks over YAML's text by brackets, knowing just enough of quotes and comments not to count theirs.
class BracketScan {
public:
    BracketScan(const TextPlaces& places, size_t start) : places_(&places), at_(start) {}
    // Goes to the next bracket; false at the end of the text.
    bool next();
    size_t at() const { return at_ - 1; } // offset of the bracket
    int depth() const { return depth_; }  // after it, counted from the start
    i64 marks() const {
        return marks_;
    } // brackets, commas, colons and the like so far: about as many as there are tokens

private:
    const TextPlaces* places_;
    size_t at_ = 0;
    int depth_ = 0;
    i64 marks_ = 0;
};

// Of the outermost bracket at `open`: the one within it whose turn it is when an outer one is closed, as [ in {a: [b}.
std::optional<size_t> crossed_bracket(const TextPlaces& places, size_t open);

// Offset of the next '#' at or after `from` that starts a comment; npos if there is none. `from` is outside of quotes.
size_t next_comment(const TextPlaces& places, size_t from);

// Offset of the quote that ends the string that begins at `open`; npos if there is none.
size_t closing_quote(std::string_view text, size_t open);

// Brackets nested deeper than max_yaml_depth (E0105) and files of very many values (E0106) are refused before YAML is
// read: yaml-cpp holds all tokens of an outermost bracket at once.
bool check_tokens(const TextPlaces& places, Diagnostics& diagnostics);

} // namespace shard
