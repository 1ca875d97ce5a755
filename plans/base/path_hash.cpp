#include "plans/base/path_hash.h"

#include "plans/base/sha1.h"

#include <array>

namespace shard {

namespace {

// Big-endian without leading zero bytes: 1 -> "\x01", 256 -> "\x01\x00", 0 -> "".
std::string minimal_bytes(i64 number) {
    std::string bytes;
    for (std::uint64_t rest = static_cast<std::uint64_t>(number); rest != 0; rest >>= 8)
        bytes.insert(bytes.begin(), static_cast<char>(rest & 0xFF));
    return bytes;
}

} // namespace

std::uint32_t path_hash(const std::vector<std::string>& path, i64 counter) {
    internal_check(counter >= 1, "path_hash: counters start at 1");
    std::string text;
    for (const std::string& name : path) text += name;
    text += minimal_bytes(counter);
    const std::array<std::uint8_t, 20> digest = sha1(text);
    std::uint32_t data = 0;
    for (std::size_t i = 0; i < 4; ++i) data = (data << 8) | digest[i];
    return data;
}

} // namespace shard
