// Shared by the tests of random numbers: whole arrays and boxes as vectors, and one number that stands for an array.
#pragma once

#include "executor/kernels/sampler.h"

#include <bit>
#include <vector>

namespace shard {

inline i64 size_of(const std::vector<i64>& shape) {
    i64 size = 1;
    for (i64 dim : shape) size *= dim;
    return size;
}

template<typename T>
std::vector<T> draw_box(const Distribution& distribution, Key key, BitLayout layout, const std::vector<i64>& shape,
                        const std::vector<i64>& start, const std::vector<i64>& local) {
    std::vector<T> out(static_cast<std::size_t>(size_of(local)));
    sample(distribution, key, layout, {shape, start, local}, std::span<T>(out));
    return out;
}

template<typename T>
std::vector<T> draw(const Distribution& distribution, Key key, BitLayout layout, const std::vector<i64>& shape) {
    return draw_box<T>(distribution, key, layout, shape, std::vector<i64>(shape.size(), 0), shape);
}

// Sum over i of (2 i + 1) * word i, modulo 2^64: any changed bit and any swap of different elements changes it.
template<typename T>
std::uint64_t checksum(const std::vector<T>& values) {
    std::uint64_t sum = 0;
    std::uint64_t weight = 1;
    for (T value : values) {
        sum += weight * std::bit_cast<std::uint32_t>(value);
        weight += 2;
    }
    return sum;
}

inline double sum_of(const std::vector<float>& values) {
    double sum = 0;
    for (float value : values) sum += static_cast<double>(value);
    return sum;
}

} // namespace shard
