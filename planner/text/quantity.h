// Amounts with a unit: "16 GiB", "1.5 GB", "512 KiB", or plain bytes.
#pragma once

#include "planner/text/yaml.h"

namespace shard {

// nullopt if it is not an amount of bytes.
std::optional<i64> parse_bytes(std::string_view text);
// Bytes, at least 0; a fraction of a byte is dropped. Reports E0309.
std::optional<i64> read_bytes(const Yaml& yaml, std::string_view what, Diagnostics& diagnostics);

} // namespace shard
