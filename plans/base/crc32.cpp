#include "plans/base/crc32.h"

#include <array>

namespace shard {

namespace {

// tables[k][b]: what byte b contributes when k bytes follow it, so that eight bytes are taken at once.
using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables make_tables() {
    Tables tables{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t sum = byte;
        for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ ((sum & 1) != 0 ? 0xEDB88320U : 0U);
        tables[0][byte] = sum;
    }
    for (std::size_t k = 1; k < tables.size(); ++k)
        for (std::size_t byte = 0; byte < 256; ++byte) {
            const std::uint32_t before = tables[k - 1][byte];
            tables[k][byte] = (before >> 8) ^ tables[0][before & 0xFF];
        }
    return tables;
}

constexpr Tables tables = make_tables();

std::uint32_t at(std::span<const std::byte> bytes, std::size_t i) { return std::to_integer<std::uint32_t>(bytes[i]); }

} // namespace

void Crc32::add(std::span<const std::byte> bytes) {
    std::uint32_t sum = state_;
    for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
        sum ^= at(bytes, 0) | at(bytes, 1) << 8 | at(bytes, 2) << 16 | at(bytes, 3) << 24;
        sum = tables[7][sum & 0xFF] ^ tables[6][(sum >> 8) & 0xFF] ^ tables[5][(sum >> 16) & 0xFF] ^
              tables[4][sum >> 24] ^ tables[3][at(bytes, 4)] ^ tables[2][at(bytes, 5)] ^ tables[1][at(bytes, 6)] ^
              tables[0][at(bytes, 7)];
    }
    for (const std::byte byte : bytes)
        sum = (sum >> 8) ^ tables[0][(sum ^ std::to_integer<std::uint32_t>(byte)) & 0xFF];
    state_ = sum;
}

} // namespace shard
