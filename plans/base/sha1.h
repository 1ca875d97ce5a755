// SHA-1 (FIPS 180-4) of a byte string. Flax names parameter keys with it (plans/base/path_hash.h); nothing here relies
// on it being secure.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace shard {

// sha1("abc") starts with a9 99 3e 36.
[[nodiscard]] std::array<std::uint8_t, 20> sha1(std::string_view bytes);

} // namespace shard
