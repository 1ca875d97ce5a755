#include "plans/base/sha1.h"

#include <bit>
#include <string>

namespace shard {
namespace {

using State = std::array<std::uint32_t, 5>;

constexpr std::size_t block_bytes = 64;

std::uint32_t big_endian_word(std::string_view bytes) {
    std::uint32_t word = 0;
    for (char byte : bytes) word = (word << 8) | static_cast<std::uint8_t>(byte);
    return word;
}

void add_block(State& state, std::string_view block) {
    std::array<std::uint32_t, 80> w{};
    for (std::size_t t = 0; t < 16; ++t) w[t] = big_endian_word(block.substr(4 * t, 4));
    for (std::size_t t = 16; t < 80; ++t) w[t] = std::rotl(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);

    auto [a, b, c, d, e] = state;
    for (std::size_t t = 0; t < 80; ++t) {
        std::uint32_t f = 0;
        std::uint32_t k = 0;
        if (t < 20) {
            f = (b & c) | (~b & d);
            k = 0x5A827999;
        } else if (t < 40) {
            f = b ^ c ^ d;
            k = 0x6ED9EBA1;
        } else if (t < 60) {
            f = (b & c) | (b & d) | (c & d);
            k = 0x8F1BBCDC;
        } else {
            f = b ^ c ^ d;
            k = 0xCA62C1D6;
        }
        const std::uint32_t next = std::rotl(a, 5) + f + e + k + w[t];
        e = d;
        d = c;
        c = std::rotl(b, 30);
        b = a;
        a = next;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
}

} // namespace

std::array<std::uint8_t, 20> sha1(std::string_view bytes) {
    State state = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
    const std::uint64_t bits = 8 * static_cast<std::uint64_t>(bytes.size());
    while (bytes.size() >= block_bytes) {
        add_block(state, bytes.substr(0, block_bytes));
        bytes.remove_prefix(block_bytes);
    }
    // The tail: a one bit, zeros, and the length in bits in the last 8 bytes of a block.
    std::string tail(bytes);
    tail.push_back(static_cast<char>(0x80));
    while (tail.size() % block_bytes != block_bytes - 8) tail.push_back('\0');
    for (int shift = 56; shift >= 0; shift -= 8) tail.push_back(static_cast<char>((bits >> shift) & 0xFF));
    for (std::size_t at = 0; at < tail.size(); at += block_bytes)
        add_block(state, std::string_view(tail).substr(at, block_bytes));

    std::array<std::uint8_t, 20> digest{};
    for (std::size_t i = 0; i < digest.size(); ++i)
        digest[i] = static_cast<std::uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
    return digest;
}

} // namespace shard
