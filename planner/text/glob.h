// Path globs, as in overrides: `*` stops at dots, `**` does not.
#pragma once

#include <string_view>

namespace shard {

bool glob_matches(std::string_view glob, std::string_view path);

} // namespace shard
