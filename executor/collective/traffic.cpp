#include "executor/collective/traffic.h"

#include "executor/kernels/reduction.h"

#include <algorithm>
#include <array>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace shard {

namespace {

constexpr i64 block_bytes = 4096;
constexpr size_t fan_in = 8; // sources combined in one pass over a block

template<typename Op, typename T>
Computed<T> at(const T* source, i64 i) {
    return convert_value<Computed<T>>(source[i]);
}

// The tree over N neighbours: (first half) op (second half).
template<typename Op, typename T, size_t N>
Computed<T> tree(const T* const* sources, i64 i) {
    if constexpr (N == 1)
        return at<Op, T>(sources[0], i);
    else
        return Op::combine(tree<Op, T, N / 2>(sources, i), tree<Op, T, N / 2>(sources + N / 2, i));
}

template<typename Op, typename T, size_t N>
void combine(Computed<T>* sums, const T* const* sources, i64 count, bool first) {
    if (first) {
        for (i64 i = 0; i < count; ++i) sums[i] = tree<Op, T, N>(sources, i);
    } else {
        for (i64 i = 0; i < count; ++i) sums[i] = Op::combine(sums[i], tree<Op, T, N>(sources, i));
    }
}

// Results that leave the caches anyway are written past them: an ordinary store first reads the line that it replaces.
constexpr i64 streamed_bytes = 8 * 1024 * 1024;

void stream_block(std::byte* to, const void* from, i64 bytes) {
#ifdef __SSE2__
    if (reinterpret_cast<std::uintptr_t>(to) % 16 == 0) {
        const __m128i* source = static_cast<const __m128i*>(from);
        __m128i* target = reinterpret_cast<__m128i*>(to);
        const i64 lanes = bytes / 16;
        for (i64 i = 0; i < lanes; ++i) _mm_stream_si128(target + i, _mm_loadu_si128(source + i));
        std::memcpy(to + lanes * 16, reinterpret_cast<const std::byte*>(from) + lanes * 16, bytes % 16);
        return;
    }
#endif
    std::memcpy(to, from, bytes);
}

// Streamed stores are not ordered by a mutex: they must be done before the result is announced.
void finish_streaming() {
#ifdef __SSE2__
    _mm_sfence();
#endif
}

template<typename Op, typename T>
void reduce_blocks(std::span<std::byte* const> targets, std::span<const std::byte* const> sources, i64 count) {
    constexpr i64 block = block_bytes / static_cast<i64>(sizeof(Computed<T>));
    alignas(64) std::array<Computed<T>, static_cast<size_t>(block)> sums;
    alignas(64) std::array<T, static_cast<size_t>(block)> narrow;
    std::array<const T*, fan_in> group;
    const bool in_place = std::find(sources.begin(), sources.end(), targets.front()) != sources.end();
    const bool stream = !in_place && count * static_cast<i64>(sizeof(T) * targets.size()) >= streamed_bytes;
    for (i64 begin = 0; begin < count; begin += block) {
        const i64 width = std::min(block, count - begin);
        for (size_t s = 0; s < sources.size();) {
            const size_t left = sources.size() - s;
            const size_t n = left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
            for (size_t g = 0; g < n; ++g) group[g] = reinterpret_cast<const T*>(sources[s + g]) + begin;
            switch (n) {
            case 8:
                combine<Op, T, 8>(sums.data(), group.data(), width, s == 0);
                break;
            case 4:
                combine<Op, T, 4>(sums.data(), group.data(), width, s == 0);
                break;
            case 2:
                combine<Op, T, 2>(sums.data(), group.data(), width, s == 0);
                break;
            default:
                combine<Op, T, 1>(sums.data(), group.data(), width, s == 0);
                break;
            }
            s += n;
        }
        const T* result = nullptr;
        if constexpr (std::is_same_v<T, Computed<T>>) {
            result = sums.data();
        } else {
            for (i64 i = 0; i < width; ++i) narrow[i] = convert_value<T>(sums[i]);
            result = narrow.data();
        }
        const i64 offset = begin * static_cast<i64>(sizeof(T)), bytes = width * static_cast<i64>(sizeof(T));
        for (std::byte* target : targets) {
            if (stream)
                stream_block(target + offset, result, bytes);
            else
                std::memcpy(target + offset, result, bytes);
        }
    }
    if (stream) finish_streaming();
}

} // namespace

void Traffic::copy(std::byte* to, const std::byte* from, i64 bytes) {
    if (remote(to)) wire_bytes_ += bytes;
    if (remote(from)) wire_bytes_ += bytes;
    std::memcpy(to, from, bytes);
}

void Traffic::copy_box(std::byte* to, const std::byte* from, i64 element_bytes, const std::vector<CopyDim>& dims) {
    i64 bytes = element_bytes;
    for (const CopyDim& dim : dims) bytes *= dim.extent;
    if (remote(to)) wire_bytes_ += bytes;
    if (remote(from)) wire_bytes_ += bytes;
    copy_strided(to, from, element_bytes, dims);
}

void Traffic::reduce(std::span<std::byte* const> targets, std::span<const std::byte* const> sources, ReduceOp op,
                     DType dtype, i64 count) {
    const i64 bytes = count * byte_size(dtype);
    for (const std::byte* target : targets)
        if (remote(target)) wire_bytes_ += bytes;
    for (const std::byte* source : sources)
        if (remote(source)) wire_bytes_ += bytes;
    visit_dtype(dtype, [&](auto zero) {
        visit_reduction(op, [&](auto kind) { reduce_blocks<decltype(kind), decltype(zero)>(targets, sources, count); });
    });
}

} // namespace shard
