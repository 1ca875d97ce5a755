// Files by pattern, as a shell has them: layouts/*.yaml, layouts/?/big.yaml, [ab].yaml.
#pragma once

#include "cli/terminal/env.h"

#include <string>
#include <string_view>
#include <vector>

namespace shard {

// As results show it: "./l.yaml" is l.yaml.
std::string plain_path(const std::string& path);

bool is_pattern(std::string_view path);
// As fnmatch(3): `*` is any characters of a name, `?` one, `[ab]` one of these. A name that begins with a dot is matched
// by a pattern that does.
bool name_matches(const std::string& pattern, const std::string& name);
// `**` in the place of a folder is any number of folders, none that is hidden. Sorted; of a path that is no pattern, that path.
std::vector<std::string> matching_paths(Files& files, const std::string& pattern);

} // namespace shard
