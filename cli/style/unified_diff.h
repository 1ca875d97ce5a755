// What two texts differ in, as `diff -u` prints it.
#pragma once

#include <string>
#include <string_view>

namespace shard {

// "--- name\n+++ name\n@@ ...", empty for equal texts.
std::string unified_diff(std::string_view name, std::string_view before, std::string_view after);

} // namespace shard
