// CRC-32 by zlib: finds damage in files. Python's zlib.crc32(bytes) gives the same number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace shard {

// The sum of all bytes added so far. Of the nine bytes "123456789" it is 0xCBF43926, of none 0.
class Crc32 {
public:
    void add(std::span<const std::byte> bytes);
    [[nodiscard]] std::uint32_t value() const { return sum_; }

private:
    std::uint32_t sum_ = 0;
};

inline std::uint32_t crc32_of(std::string_view text) {
    Crc32 sum;
    sum.add(std::as_bytes(std::span<const char>(text)));
    return sum.value();
}

} // namespace shard
