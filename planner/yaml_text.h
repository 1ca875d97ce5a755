// Bytes of a YAML file before any YAML is read: is this text at all, and where is byte n?
#pragma once

#include "plans/diagnostic.h"

#include <vector>

namespace shard {

constexpr size_t max_yaml_bytes = size_t{16} << 20;

// UTF-8 without control characters, at most max_yaml_bytes; reports E0107, E0108 and returns false otherwise.
// A byte order mark of UTF-8 is allowed at the start.
bool check_yaml_text(const Sources& sources, int file, Diagnostics& diagnostics);

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

} // namespace shard
