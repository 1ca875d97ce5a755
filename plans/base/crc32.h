// CRC-32 by zlib: finds damage in files. Python's zlib.crc32(bytes) gives the same number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace shard {

// The sum of all bytes added so far. Of the nine bytes "123456789" it is 0xCBF43926, of none 0.
class Crc32 {
public:
    void add(std::span<const std::byte> bytes);
    [[nodiscard]] std::uint32_t value() const { return sum_; }

private:
    std::uint32_t sum_ = 0;
};

} // namespace shard
