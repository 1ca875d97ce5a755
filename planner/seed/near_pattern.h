// What a pattern that matches nothing was meant to be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shard {

// For W0301: "did you mean 'block.*.up'?" with a pattern that matches some of the names and is as wide as the one that
// was written (one part of it is spelled otherwise, or parts are joined by _ where it has a dot); a name that is the
// same but for dots and lines; or `otherwise`. `shardc check --fix` writes what it is asked here.
std::string near_pattern(const std::string& pattern, std::vector<std::string> names, const std::string& otherwise);

} // namespace shard
