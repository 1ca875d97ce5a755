// Where things stand in a JSON text, for messages. Places are found by reading the text again: that happens once per
// message, and the tree of a file that is in order need not carry them.
//
//     JsonText text{R"({"steps": [{"wait": 3}]})", file};
//     text.value("steps[0].wait")      the 3, line 1, column 22
//     text.key("steps[0]", "wait")     the key's name
#pragma once

#include "plans/base/base.h"
#include "plans/diagnostics/diagnostic.h"

#include <string_view>

namespace shard {

struct JsonText {
    std::string_view text;
    int file = -1; // index into Sources; -1: every place is unknown

    // Offsets and lengths in bytes. The end of the text is shown at the end of its last line.
    Span at(i64 offset, i64 length = 1) const;
    // The value at a path: keys joined by dots, list indices in brackets; what follows a space is ignored. A number or
    // string is marked as a whole, an object or list by its bracket. Where the path leads nowhere, the last value on
    // the way; the top is "".
    Span value(std::string_view path) const;
    // The last key of this name in the object at a path; the object itself if it has none.
    Span key(std::string_view path, std::string_view key) const;
};

} // namespace shard
