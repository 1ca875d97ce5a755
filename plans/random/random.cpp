#include "plans/random/random.h"

#include "plans/random/philox.h"

#include <algorithm>
#include <bit>

namespace shard {
namespace {

// Legacy arrays of this many elements or more are made in chunks of this size, each under its own key.
constexpr i64 legacy_chunk = 0xFFFFFFFF;

// Elements per inner loop: a constant trip count lets the compiler use vector registers; the arrays stay in L1.
constexpr i64 lane_count = 256;
struct Lanes {
    std::array<std::uint32_t, lane_count> x0;
    std::array<std::uint32_t, lane_count> x1;
};

struct Schedule {
    std::uint32_t k[3];
};

constexpr Schedule schedule_of(Key key) { return {{key.k0, key.k1, key.k0 ^ key.k1 ^ 0x1BD11BDAu}}; }

template<int r0, int r1, int r2, int r3>
inline void four_rounds(std::uint32_t& x0, std::uint32_t& x1, std::uint32_t add0, std::uint32_t add1) {
    x0 += x1, x1 = std::rotl(x1, r0) ^ x0;
    x0 += x1, x1 = std::rotl(x1, r1) ^ x0;
    x0 += x1, x1 = std::rotl(x1, r2) ^ x0;
    x0 += x1, x1 = std::rotl(x1, r3) ^ x0;
    x0 += add0;
    x1 += add1;
}

inline void encrypt(const Schedule& s, std::uint32_t& x0, std::uint32_t& x1) {
    x0 += s.k[0];
    x1 += s.k[1];
    four_rounds<13, 15, 26, 6>(x0, x1, s.k[1], s.k[2] + 1);
    four_rounds<17, 29, 16, 24>(x0, x1, s.k[2], s.k[0] + 2);
    four_rounds<13, 15, 26, 6>(x0, x1, s.k[0], s.k[1] + 3);
    four_rounds<17, 29, 16, 24>(x0, x1, s.k[1], s.k[2] + 4);
    four_rounds<13, 15, 26, 6>(x0, x1, s.k[2], s.k[0] + 5);
}

void encrypt_lanes(const Schedule& schedule, Lanes& lanes) {
    const Schedule s = schedule;
    for (i64 i = 0; i < lane_count; ++i) {
        std::uint32_t x0 = lanes.x0[i];
        std::uint32_t x1 = lanes.x1[i];
        encrypt(s, x0, x1);
        lanes.x0[i] = x0;
        lanes.x1[i] = x1;
    }
}

// The counters of the block that holds legacy element `index`, and which of its lanes that is.
struct LegacySlot {
    std::uint32_t first;
    std::uint32_t second;
    bool second_lane;
};

inline LegacySlot legacy_slot(std::uint32_t size, std::uint32_t half, std::uint32_t index) {
    const bool second_lane = index >= half;
    const std::uint32_t first = second_lane ? index - half : index;
    const std::uint32_t second = first + half;
    return {first, second == size ? 0 : second, second_lane}; // an odd count is padded with the counter 0
}

std::uint32_t legacy_bits(Key key, i64 size, i64 index) {
    const std::uint32_t half = static_cast<std::uint32_t>((size + 1) / 2);
    const LegacySlot slot = legacy_slot(static_cast<std::uint32_t>(size), half, static_cast<std::uint32_t>(index));
    return threefry2x32(key, slot.first, slot.second)[slot.second_lane ? 1 : 0];
}

std::uint32_t legacy_bits_chunked(Key key, i64 size, i64 index) {
    if (size < legacy_chunk) return legacy_bits(key, size, index);
    const i64 chunks = size / legacy_chunk;
    const i64 chunk = index / legacy_chunk;
    const Key chunk_key{legacy_bits(key, 2 * (chunks + 1), 2 * chunk),
                        legacy_bits(key, 2 * (chunks + 1), 2 * chunk + 1)};
    return legacy_bits(chunk_key, chunk < chunks ? legacy_chunk : size % legacy_chunk, index % legacy_chunk);
}

// index_of(j) is the flat index of output j; it is called for 0 <= j < out.size().
template<typename IndexOf>
void partitionable_run(Key key, IndexOf index_of, std::span<std::uint32_t> out) {
    const Schedule schedule = schedule_of(key);
    Lanes lanes{};
    const i64 count = static_cast<i64>(out.size());
    for (i64 base = 0; base < count; base += lane_count) {
        const i64 here = std::min(lane_count, count - base);
        for (i64 i = 0; i < here; ++i) {
            const std::uint64_t index = static_cast<std::uint64_t>(index_of(base + i));
            lanes.x0[i] = static_cast<std::uint32_t>(index >> 32);
            lanes.x1[i] = static_cast<std::uint32_t>(index);
        }
        encrypt_lanes(schedule, lanes);
        for (i64 i = 0; i < here; ++i) out[base + i] = lanes.x0[i] ^ lanes.x1[i];
    }
}

template<typename IndexOf>
void legacy_run(Key key, i64 total_size, IndexOf index_of, std::span<std::uint32_t> out) {
    const Schedule schedule = schedule_of(key);
    const std::uint32_t size = static_cast<std::uint32_t>(total_size);
    const std::uint32_t half = static_cast<std::uint32_t>((total_size + 1) / 2);
    Lanes lanes{};
    std::array<std::uint32_t, lane_count> take_second{};
    const i64 count = static_cast<i64>(out.size());
    for (i64 base = 0; base < count; base += lane_count) {
        const i64 here = std::min(lane_count, count - base);
        for (i64 i = 0; i < here; ++i) {
            const LegacySlot slot = legacy_slot(size, half, static_cast<std::uint32_t>(index_of(base + i)));
            lanes.x0[i] = slot.first;
            lanes.x1[i] = slot.second;
            take_second[i] = slot.second_lane ? 0xFFFFFFFFu : 0u;
        }
        encrypt_lanes(schedule, lanes);
        for (i64 i = 0; i < here; ++i) out[base + i] = (lanes.x0[i] & ~take_second[i]) | (lanes.x1[i] & take_second[i]);
    }
}

std::uint32_t rbg_bits(Key key, i64 index) {
    const auto number = [](std::uint32_t low, std::uint32_t high) { return std::uint64_t{high} << 32 | low; };
    const std::uint64_t first = number(key.k2, key.k3), low = first + static_cast<std::uint64_t>(index / 4),
                        high = number(key.k0, key.k1) + (low < first ? 1 : 0);
    const auto word = [](std::uint64_t of) { return static_cast<std::uint32_t>(of); };
    return philox4x32({word(low), word(low >> 32), word(high), word(high >> 32)},
                      {key.k0, key.k1})[static_cast<std::size_t>(index % 4)];
}

template<typename IndexOf>
void run(Key key, BitLayout layout, i64 total_size, IndexOf index_of, std::span<std::uint32_t> out) {
    if (layout == BitLayout::partitionable) {
        partitionable_run(key, index_of, out);
    } else if (layout == BitLayout::rbg) {
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = rbg_bits(key, index_of(static_cast<i64>(i)));
    } else if (total_size < legacy_chunk) {
        legacy_run(key, total_size, index_of, out);
    } else {
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = legacy_bits_chunked(key, total_size, index_of(static_cast<i64>(i)));
    }
}

} // namespace

std::string_view bit_layout_name(BitLayout layout) {
    switch (layout) {
    case BitLayout::legacy:
        return "legacy";
    case BitLayout::partitionable:
        return "partitionable";
    case BitLayout::rbg:
        return "rbg";
    }
    internal_error("unknown layout of random bits");
}

std::optional<BitLayout> bit_layout_from_name(std::string_view name) {
    for (BitLayout layout : {BitLayout::legacy, BitLayout::partitionable, BitLayout::rbg})
        if (name == bit_layout_name(layout)) return layout;
    return std::nullopt;
}

std::array<std::uint32_t, 2> threefry2x32(Key key, std::uint32_t x0, std::uint32_t x1) {
    encrypt(schedule_of(key), x0, x1);
    return {x0, x1};
}

Key key_from_seed(i64 seed) { return {0, static_cast<std::uint32_t>(static_cast<std::uint64_t>(seed))}; }

Key fold_in(Key key, std::uint32_t data) {
    const std::array<std::uint32_t, 2> words = threefry2x32(key, 0, data);
    return {words[0], words[1]};
}

std::vector<Key> split(Key key, i64 count, BitLayout layout) {
    internal_check(count >= 0 && count < legacy_chunk / 2, "split: the number of keys is out of range");
    internal_check(layout != BitLayout::rbg, "split: keys of rbg are split otherwise");
    std::vector<Key> keys;
    keys.reserve(static_cast<std::size_t>(count));
    for (i64 i = 0; i < count; ++i) {
        if (layout == BitLayout::partitionable)
            keys.push_back(fold_in(key, static_cast<std::uint32_t>(i)));
        else
            keys.push_back({legacy_bits(key, 2 * count, 2 * i), legacy_bits(key, 2 * count, 2 * i + 1)});
    }
    return keys;
}

std::uint32_t random_bits32(Key key, BitLayout layout, i64 total_size, i64 flat_index) {
    internal_check(0 <= flat_index && flat_index < total_size, "random_bits32: the index is outside the array");
    if (layout == BitLayout::legacy) return legacy_bits_chunked(key, total_size, flat_index);
    if (layout == BitLayout::rbg) return rbg_bits(key, flat_index);
    const std::uint64_t index = static_cast<std::uint64_t>(flat_index);
    const std::array<std::uint32_t, 2> words =
        threefry2x32(key, static_cast<std::uint32_t>(index >> 32), static_cast<std::uint32_t>(index));
    return words[0] ^ words[1];
}

void random_bits32(Key key, BitLayout layout, i64 total_size, i64 first_index, std::span<std::uint32_t> out) {
    internal_check(0 <= first_index && first_index <= total_size &&
                       static_cast<i64>(out.size()) <= total_size - first_index,
                   "random_bits32: the run is outside the array");
    run(
        key, layout, total_size, [first_index](i64 i) { return first_index + i; }, out);
}

void random_bits32_at(Key key, BitLayout layout, i64 total_size, std::span<const i64> flat_indices,
                      std::span<std::uint32_t> out) {
    internal_check(flat_indices.size() == out.size(), "random_bits32_at: one index per result");
    const i64* indices = flat_indices.data();
    run(
        key, layout, total_size, [indices](i64 i) { return indices[i]; }, out);
}

} // namespace shard
