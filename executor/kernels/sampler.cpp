#include "executor/kernels/sampler.h"

#include "executor/elements/element.h"
#include "executor/kernels/sampler_math.h"

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>

namespace shard {
namespace {

// Elements are made in blocks of this size: a constant trip count for the compiler's vector loops, and small enough for
// everything to stay in the L1 cache.
constexpr std::size_t block_size = 512;

template<typename T>
using Block = std::array<T, block_size>;

// Everything a float block needs, computed once per call of sample().
struct FloatParameters {
    float low = 0;   // of the uniform draw
    float range = 0; // high - low, rounded to float
    float clip_low = 0;
    float clip_high = 0;
    float scale = 1;
    float offset = 0;
};

constexpr float sqrt2 = 1.41421356237309504880f;

FloatParameters float_parameters(const Distribution& d) {
    FloatParameters p;
    p.scale = static_cast<float>(d.scale);
    p.offset = static_cast<float>(d.offset);
    const float low = static_cast<float>(d.low);
    const float high = static_cast<float>(d.high);
    float draw_low = low;
    float draw_high = high;
    if (d.kind == DistributionKind::normal) {
        draw_low = std::nextafterf(-1.0f, 0.0f);
        draw_high = 1.0f;
    } else if (d.kind == DistributionKind::truncated_normal) {
        draw_low = erf_f32(low / sqrt2);
        draw_high = erf_f32(high / sqrt2);
        p.clip_low = std::nextafterf(low, HUGE_VALF);
        p.clip_high = std::nextafterf(high, -HUGE_VALF);
    } else if (d.kind == DistributionKind::bernoulli) {
        draw_low = 0.0f;
        draw_high = 1.0f;
    }
    p.low = draw_low;
    p.range = draw_high - draw_low;
    return p;
}

// A float in [low, low + range) from the high 23 of 32 bits.
SHARD_INLINE float uniform_of(std::uint32_t bits, float low, float range) {
    const float unit = std::bit_cast<float>((bits >> 9) | 0x3F800000u) - 1.0f;
    const float u = std::fma(unit, range, low);
    return u < low ? low : u;
}

template<DistributionKind kind>
SHARD_INLINE void fill(const Block<std::uint32_t>& bits, const FloatParameters& parameters, Block<float>& out) {
    const FloatParameters p = parameters;
    for (std::size_t i = 0; i < block_size; ++i) {
        float x = uniform_of(bits[i], p.low, p.range);
        if constexpr (kind != DistributionKind::uniform) x = sqrt2 * erf_inv_f32(x);
        if constexpr (kind == DistributionKind::truncated_normal) {
            x = x < p.clip_low ? p.clip_low : x;
            x = x > p.clip_high ? p.clip_high : x;
        }
        out[i] = x * p.scale;
    }
    if (p.offset == 0.0f) return;
    for (std::size_t i = 0; i < block_size; ++i) out[i] = out[i] + p.offset;
}

SHARD_INLINE void fill_any(DistributionKind kind, const Block<std::uint32_t>& bits, const FloatParameters& parameters,
                           Block<float>& out) {
    if (kind == DistributionKind::normal)
        fill<DistributionKind::normal>(bits, parameters, out);
    else if (kind == DistributionKind::truncated_normal)
        fill<DistributionKind::truncated_normal>(bits, parameters, out);
    else
        fill<DistributionKind::uniform>(bits, parameters, out);
}

// The same code twice, because an fma is one instruction only on machines that have it (elsewhere it is a slow call).
// The results are the same bits.
using FillFunction = void (*)(DistributionKind, const Block<std::uint32_t>&, const FloatParameters&, Block<float>&);

void fill_portable(DistributionKind kind, const Block<std::uint32_t>& bits, const FloatParameters& parameters,
                   Block<float>& out) {
    fill_any(kind, bits, parameters, out);
}

#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] void fill_with_fma(DistributionKind kind, const Block<std::uint32_t>& bits,
                                               const FloatParameters& parameters, Block<float>& out) {
    fill_any(kind, bits, parameters, out);
}
FillFunction choose_fill() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? fill_with_fma : fill_portable;
}
#else
FillFunction choose_fill() { return fill_portable; }
#endif

// Calls run(first flat index, length) for the contiguous runs of a box, in row-major order.
template<typename Run>
void for_each_run(const SampleBox& box, Run run) {
    const std::size_t rank = box.global_shape.size();
    internal_check(box.start.size() == rank && box.local_shape.size() == rank, "sample: the box has mixed ranks");
    for (std::size_t d = 0; d < rank; ++d) {
        internal_check(box.start[d] >= 0 && box.local_shape[d] >= 0 &&
                           box.start[d] <= box.global_shape[d] - box.local_shape[d],
                       "sample: the box is outside the array");
        if (box.local_shape[d] == 0) return;
    }
    // Dims that the box covers whole merge with the dim before them into longer runs.
    std::size_t outer = rank;
    i64 length = 1;
    while (outer > 0) {
        --outer;
        length *= box.local_shape[outer];
        if (box.local_shape[outer] != box.global_shape[outer]) break;
    }
    std::vector<i64> at(outer, 0);
    for (;;) {
        i64 first = 0;
        for (std::size_t d = 0; d < rank; ++d)
            first = first * box.global_shape[d] + box.start[d] + (d < outer ? at[d] : 0);
        run(first, length);
        std::size_t d = outer;
        while (d > 0 && ++at[d - 1] == box.local_shape[d - 1]) at[--d] = 0;
        if (d == 0) return;
    }
}

i64 product(std::span<const i64> shape) {
    i64 size = 1;
    for (i64 dim : shape) size *= dim;
    return size;
}

// Calls block(flat indices, offset in the output) until the box is done; only the last block may be shorter.
template<typename OnBlock>
void for_each_block(const SampleBox& box, OnBlock on_block) {
    Block<i64> indices{};
    std::size_t filled = 0;
    std::size_t offset = 0;
    for_each_run(box, [&](i64 first, i64 length) {
        while (length > 0) {
            const i64 here = std::min(length, static_cast<i64>(block_size - filled));
            for (i64 i = 0; i < here; ++i) indices[filled + static_cast<std::size_t>(i)] = first + i;
            filled += static_cast<std::size_t>(here);
            first += here;
            length -= here;
            if (filled < block_size) continue;
            on_block(std::span<const i64>(indices), offset);
            offset += filled;
            filled = 0;
        }
    });
    if (filled > 0) on_block(std::span<const i64>(indices.data(), filled), offset);
}

// Integers in [low, high): two draws of 32 bits make one of 64, reduced modulo the span in 32-bit arithmetic. The span
// is 2^32 (written 0, and a remainder by it changes nothing) for the whole range of int32.
struct IntegerRange {
    std::uint32_t low = 0;
    std::uint32_t span = 1;
    std::uint32_t multiplier = 0; // 2^32 modulo span

    std::uint32_t remainder(std::uint32_t x) const { return span == 0 ? x : x % span; }
    std::int32_t value(std::uint32_t high_bits, std::uint32_t low_bits) const {
        const std::uint32_t offset = remainder(remainder(high_bits) * multiplier + remainder(low_bits));
        return static_cast<std::int32_t>(low + offset);
    }
};

IntegerRange integer_range(const Distribution& d) {
    constexpr double least = std::numeric_limits<std::int32_t>::min();
    constexpr double most = std::numeric_limits<std::int32_t>::max();
    const double low = std::clamp(d.low, least, most);
    const double high = std::clamp(d.high, least, most);
    IntegerRange range;
    range.low = static_cast<std::uint32_t>(static_cast<std::int32_t>(low));
    if (high > low) {
        range.span = static_cast<std::uint32_t>(static_cast<i64>(high) - static_cast<i64>(low));
        if (d.high > most) range.span += 1;
    }
    range.multiplier = range.remainder(65536);
    range.multiplier = range.remainder(range.multiplier * range.multiplier);
    return range;
}

// Draws the box and passes it on as write(offset, count, element(i)): elements are float, std::int32_t, std::uint32_t
// or bool, by the distribution.
template<typename Write>
void sample_blocks(const Distribution& d, Key key, BitLayout layout, const SampleBox& box, std::uint32_t multiplier,
                   Write write) {
    const i64 total = product(box.global_shape);
    Block<std::uint32_t> bits{};
    const auto draw = [&](Key from, std::span<const i64> indices, Block<std::uint32_t>& into) {
        random_bits32_at(from, layout, total, indices, std::span(into.data(), indices.size()));
        if (multiplier == 1) return;
        for (std::uint32_t& word : into) word *= multiplier;
    };
    switch (d.kind) {
    case DistributionKind::constant: {
        const double value = d.value;
        for_each_block(box, [&](std::span<const i64> indices, std::size_t offset) {
            write(offset, indices.size(), [value](std::size_t) { return value; });
        });
        return;
    }
    case DistributionKind::uniform:
    case DistributionKind::normal:
    case DistributionKind::truncated_normal: {
        const FloatParameters parameters = float_parameters(d);
        const FillFunction fill_block = choose_fill();
        Block<float> values{};
        for_each_block(box, [&](std::span<const i64> indices, std::size_t offset) {
            draw(key, indices, bits);
            fill_block(d.kind, bits, parameters, values);
            write(offset, indices.size(), [&](std::size_t i) { return values[i]; });
        });
        return;
    }
    case DistributionKind::bernoulli: {
        const float probability = static_cast<float>(d.probability);
        for_each_block(box, [&](std::span<const i64> indices, std::size_t offset) {
            draw(key, indices, bits);
            write(offset, indices.size(), [&](std::size_t i) { return uniform_of(bits[i], 0.0f, 1.0f) < probability; });
        });
        return;
    }
    case DistributionKind::randint: {
        const IntegerRange range = integer_range(d);
        const std::vector<Key> keys = split(key, 2, layout);
        Block<std::uint32_t> low_bits{};
        for_each_block(box, [&](std::span<const i64> indices, std::size_t offset) {
            draw(keys[0], indices, bits);
            draw(keys[1], indices, low_bits);
            write(offset, indices.size(), [&](std::size_t i) { return range.value(bits[i], low_bits[i]); });
        });
        return;
    }
    case DistributionKind::bits:
        for_each_block(box, [&](std::span<const i64> indices, std::size_t offset) {
            draw(key, indices, bits);
            write(offset, indices.size(), [&](std::size_t i) { return bits[i]; });
        });
        return;
    }
    internal_error("sample: unknown distribution");
}

} // namespace

template<typename T>
void sample(const Distribution& distribution, Key key, BitLayout layout, const SampleBox& box, std::span<T> out,
            std::uint32_t multiplier) {
    internal_check(static_cast<i64>(out.size()) == product(box.local_shape), "sample: out has the box's size");
    const bool draws_floats = distribution.kind == DistributionKind::uniform ||
                              distribution.kind == DistributionKind::normal ||
                              distribution.kind == DistributionKind::truncated_normal;
    internal_check(is_float_element<T> || !draws_floats, "sample: integers of a continuous distribution");
    sample_blocks(distribution, key, layout, box, multiplier, [&](std::size_t offset, std::size_t count, auto element) {
        for (std::size_t i = 0; i < count; ++i) out[offset + i] = convert_value<T>(element(i));
    });
}

#define REGISTER(stem)                                                                                                 \
    template void sample(const Distribution&, Key, BitLayout, const SampleBox&,                                        \
                         std::span<ElementType<DType::stem>::Element>, std::uint32_t);
#include "dtype_registry.inc"
#undef REGISTER

} // namespace shard
