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

// The strides of a box whose elements follow one another, outermost first.
std::vector<i64> packed_strides(const std::vector<CopyDim>& dims) {
    std::vector<i64> strides(dims.size());
    i64 stride = 1;
    for (size_t d = dims.size(); d-- > 0;) {
        strides[d] = stride;
        stride *= dims[d].extent;
    }
    return strides;
}

} // namespace

i64 elements_of(const std::vector<CopyDim>& dims) {
    i64 count = 1;
    for (const CopyDim& dim : dims) count *= dim.extent;
    return count;
}

std::vector<CopyDim> from_packed(const std::vector<CopyDim>& dims) {
    std::vector<CopyDim> result = normalised(dims);
    const std::vector<i64> strides = packed_strides(result);
    for (size_t d = 0; d < result.size(); ++d) result[d].from = strides[d];
    return result;
}

std::vector<CopyDim> to_packed(const std::vector<CopyDim>& dims) {
    std::vector<CopyDim> result = normalised(dims);
    const std::vector<i64> strides = packed_strides(result);
    for (size_t d = 0; d < result.size(); ++d) result[d].to = strides[d];
    return result;
}

void ArenaTraffic::copy_box(std::byte* to, const std::byte* from, i64 element_bytes, const std::vector<CopyDim>& dims) {
    const i64 bytes = element_bytes * elements_of(dims);
    if (remote(to)) wire_bytes_ += bytes;
    if (remote(from)) wire_bytes_ += bytes;
    copy_strided(to, from, element_bytes, dims);
}

// Run by run: what lies together in all of them is reduced at once.
void ArenaTraffic::reduce(std::span<std::byte* const> targets, std::span<const std::byte* const> sources, ReduceOp op,
                          DType dtype, const std::vector<CopyDim>& box) {
    const std::vector<CopyDim> dims = normalised(box);
    const i64 element = byte_size(dtype), count = elements_of(dims), bytes = count * element;
    for (const std::byte* target : targets)
        if (remote(target)) wire_bytes_ += bytes;
    for (const std::byte* source : sources)
        if (remote(source)) wire_bytes_ += bytes;
    const bool has_runs = !dims.empty() && dims.back().to == 1 && dims.back().from == 1;
    const i64 run = has_runs ? dims.back().extent : 1;
    const size_t outer = has_runs ? dims.size() - 1 : dims.size();
    std::vector<i64> index(outer, 0);
    std::vector<std::byte*> to(targets.begin(), targets.end());
    std::vector<const std::byte*> from(sources.begin(), sources.end());
    visit_dtype(dtype, [&](auto zero) {
        visit_reduction(op, [&](auto kind) {
            for (i64 done = 0; done < count; done += run) {
                i64 to_offset = 0, from_offset = 0;
                for (size_t d = 0; d < outer; ++d) {
                    to_offset += index[d] * dims[d].to * element;
                    from_offset += index[d] * dims[d].from * element;
                }
                for (size_t t = 0; t < to.size(); ++t) to[t] = targets[t] + to_offset;
                for (size_t s = 0; s < from.size(); ++s) from[s] = sources[s] + from_offset;
                reduce_blocks<decltype(kind), decltype(zero)>(to, from, run);
                for (size_t d = outer; d-- > 0;) {
                    if (++index[d] < dims[d].extent) break;
                    index[d] = 0;
                }
            }
        });
    });
}

void ArenaTraffic::clear(std::byte* to, i64 bytes) { std::memset(to, 0, bytes); }

} // namespace shard
