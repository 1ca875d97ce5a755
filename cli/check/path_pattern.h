// Files by pattern, as a shell has them: layouts/*.yaml, layouts/?/big.yaml.
#pragma once

#include "cli/terminal/env.h"

#include <string>
#include <string_view>
#include <vector>

namespace shard {

bool is_pattern(std::string_view path);
// `*` is any characters of a name, `?` one. A name that begins with a dot is matched by one that does.
bool name_matches(std::string_view pattern, std::string_view name);
// Sorted; of a path that is no pattern, that path.
std::vector<std::string> matching_paths(Files& files, const std::string& pattern);

} // namespace shard
