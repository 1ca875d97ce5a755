// The name and version that reports carry.
#pragma once

#include <string>

namespace shard {

std::string tool_text();    // "shardc 0.1.0"
std::string tool_version(); // "0.1.0"

} // namespace shard
