// Files by pattern, as a shell has them: layouts/*.yaml, layouts/?/big.yaml.
#pragma once

#include "cli/terminal/env.h"

#include <string>
#include <string_view>
#include <vector>

namespace shard {

// As results show it: "./l.yaml" is l.yaml.
std::string plain_path(const std::string& path);

bool is_pattern(std::string_view path);
// `*` is any characters of a name, `?` one. A name that begins with a dot is matched by one that does.
bool name_matches(std::string_view pattern, std::string_view name);
// `**` in the place of a folder is any number of folders, none that is hidden. Sorted; of a path that is no pattern, that path.
std::vector<std::string> matching_paths(Files& files, const std::string& pattern);

} // namespace shard
