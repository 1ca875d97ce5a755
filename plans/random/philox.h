// The block cipher Philox4x32 with 10 rounds, which XLA's rng_bit_generator uses on CPUs and GPUs where it may choose.
//
// Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011).
//
//     philox4x32({0, 0, 0, 0}, {0, 0});    // {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}
#pragma once

#include <array>
#include <cstdint>

namespace shard {

// A block of four words, which is a counter of 128 bits, its lowest word first, under a key of two.
constexpr std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> block,
                                                  std::array<std::uint32_t, 2> key) {
    constexpr std::uint64_t multiplier_0 = 0xD2511F53, multiplier_1 = 0xCD9E8D57;
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t a = multiplier_0 * block[0], b = multiplier_1 * block[2];
        block = {static_cast<std::uint32_t>(b >> 32) ^ block[1] ^ key[0], static_cast<std::uint32_t>(b),
                 static_cast<std::uint32_t>(a >> 32) ^ block[3] ^ key[1], static_cast<std::uint32_t>(a)};
        key = {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85};
    }
    return block;
}

} // namespace shard
