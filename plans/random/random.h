// Counter-based random bits: the Threefry2x32 block cipher with 20 rounds, keys, and the ways of laying bits over an
// array that JAX knows. Any element can be made alone, from its flat index and the size of the whole array, so a device
// makes its own shard without communication and values never depend on the sharding.
//
// Sources: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011) for the cipher; jax.random
// (threefry2x32, rbg) for keys and layouts; xla/hlo/builder/lib/prng.cc for what rbg is on CPUs and GPUs.
//
//     Key root = key_from_seed(0);                                  // {0, 0}
//     fold_in(root, 0);                                             // {1797259609, 2579123966} in both layouts
//     split(root, 2, BitLayout::legacy)[0];                         // {4146024105, 967050713}
//     random_bits32(root, BitLayout::partitionable, 1 << 20, 7);    // the bits of element 7
#pragma once

#include "plans/base/base.h"

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace shard {

struct Key {
    std::uint32_t k0 = 0;
    std::uint32_t k1 = 0;
    std::uint32_t k2 = 0; // of layout rbg alone, as k3
    std::uint32_t k3 = 0;
    bool operator==(const Key&) const = default;
};

// How the cipher's blocks are laid over an array of n elements.
//   legacy         (JAX before 0.5) the counters 0..n-1 are cut into two halves, which feed the two lanes of a block:
//                  element i < h = ceil(n/2) is the first lane of block (i, i+h), element i >= h the second lane of
//                  block (i-h, i). So the bits of an element depend on n.
//   partitionable  (JAX since 0.5) element i is both lanes of block (high word of i, low word of i), xor-ed.
//   rbg            (jax_default_prng_impl rbg and unsafe_rbg, whose keys have four words) element i is word i mod 4 of
//                  the Philox4x32 block (k2, k3, k0, k1) + i / 4, a number of 128 bits, under the key (k0, k1).
enum class BitLayout { legacy, partitionable, rbg };

// As in model and plan files: "legacy", "partitionable", "rbg".

[[nodiscard]] std::string_view bit_layout_name(BitLayout layout);
[[nodiscard]] std::optional<BitLayout> bit_layout_from_name(std::string_view name);

// The cipher: a block of two words under a key.
[[nodiscard]] std::array<std::uint32_t, 2> threefry2x32(Key key, std::uint32_t x0, std::uint32_t x1);

// Only the low 32 bits of the seed count, as in JAX without 64-bit types.
[[nodiscard]] Key key_from_seed(i64 seed);

// jax.random.fold_in: the block (0, data) under the key.
[[nodiscard]] Key fold_in(Key key, std::uint32_t data);

// jax.random.split: `count` keys, from the bits of an array (count, 2). Not of rbg.
[[nodiscard]] std::vector<Key> split(Key key, i64 count, BitLayout layout);

// The 32 random bits of one element, by its row-major index in an array of total_size elements.
[[nodiscard]] std::uint32_t random_bits32(Key key, BitLayout layout, i64 total_size, i64 flat_index);

// The bits of a contiguous run of elements that starts at first_index.
void random_bits32(Key key, BitLayout layout, i64 total_size, i64 first_index, std::span<std::uint32_t> out);

// The bits of any list of elements; out has the size of flat_indices.
void random_bits32_at(Key key, BitLayout layout, i64 total_size, std::span<const i64> flat_indices,
                      std::span<std::uint32_t> out);

} // namespace shard
