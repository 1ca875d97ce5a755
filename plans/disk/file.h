// Texts that are read whole. How files are written: plans/disk/output_file.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace shard {

// The whole contents; nullopt, with the operating system's words in `problem`, if the file cannot be read, or holds
// more than `limit` bytes (then no more than that is read: a device may have no end).
std::optional<std::string> read_file(const std::string& path, std::string& problem,
                                     size_t limit = static_cast<size_t>(-1));

// The most that is read of a text: a model, a layout, a plan. The plan of a model of a hundred layers has a tenth of
// it.
inline constexpr size_t text_file_limit = size_t{64} << 20;
std::string too_large(size_t limit); // "it has more than 64 MiB, which is the most that is read"

} // namespace shard
