// Files that appear whole: written beside their place and renamed into it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace shard {

// The whole contents; nullopt, with the operating system's words in `problem`, if the file cannot be read.
std::optional<std::string> read_file(const std::string& path, std::string& problem);

// False, with `problem`, if the file cannot be written; then nothing is left behind and an old file stays as it was.
bool write_file_atomically(const std::string& path, std::string_view contents, std::string& problem);

} // namespace shard
