// Names of values are paths: "block.0.h#2".
#pragma once

#include <string_view>

namespace shard {

// The last part of a path, as the body that makes the value calls it: "h#2".
inline std::string_view own_name(std::string_view path) { return path.substr(path.rfind('.') + 1); }

} // namespace shard
