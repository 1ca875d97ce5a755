// A YAML text for a narrow terminal that still is the same YAML: who copies it from the screen has the file.
#pragma once

#include <string>
#include <string_view>

namespace shard {

// Lines of at most `width` columns where they have spaces to break at: a comment that does not fit behind its line
// stands above it, and a line goes on four columns deeper. The text as it is if `width` is 0. Block scalars (|, >) must
// not be in it.
std::string narrow_yaml(std::string_view text, size_t width);

} // namespace shard
