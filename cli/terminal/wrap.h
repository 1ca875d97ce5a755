// Text broken into lines that fit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shard {

// Lines of at most `width` columns, at least one: broken at spaces, which go; else before a dot or behind a slash or a
// comma, as names and lists have them; else anywhere.
//
//     broken("block.0.w and b", 9)  ->  "block.0.w", "and b"       broken("block.0.w", 7)  ->  "block.0", ".w"
std::vector<std::string> broken(std::string_view text, size_t width);

// The same as one text, with `indent` blanks in front of every line but the first. No limit if `width` is 0.
std::string hanging(std::string_view text, size_t width, size_t indent);

// Lines that are too long, as of a help text: broken, and hung below where the line's last column begins, which two
// blanks divide from what is in front of it.
//
//     "  plan   what a layout costs"  in 20 columns:  "  plan   what a"
//                                                     "         layout"
//                                                     "         costs"
std::string entries_broken(std::string_view text, size_t width);

} // namespace shard
