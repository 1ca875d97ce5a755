// CRC-32 as zlib, gzip and PNG have it (polynomial 0x04C11DB7, reflected): finds damage in files. Python's
// zlib.crc32(bytes) gives the same number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace shard {

// The sum of all bytes added so far. Of the nine bytes "123456789" it is 0xCBF43926, of none 0.
class Crc32 {
public:
    void add(std::span<const std::byte> bytes);
    [[nodiscard]] std::uint32_t value() const { return ~state_; }

private:
    std::uint32_t state_ = 0xFFFFFFFF;
};

} // namespace shard
