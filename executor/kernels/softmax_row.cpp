#include "executor/kernels/softmax_row.h"

#include "executor/machine/wide_registers.h"
#include "plans/instruction/series.h"

#include <algorithm>
#include <array>
#include <limits>

namespace shard {

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr i64 lane_count = 16; // a sum is kept in as many parts, whatever the registers hold

template<typename T>
using Lanes = std::array<T, lane_count>;

SHARD_INLINE float largest(const float* row, i64 count) {
    Lanes<float> most;
    most.fill(-infinity);
    i64 i = 0;
    for (; i + lane_count <= count; i += lane_count)
        for (i64 l = 0; l < lane_count; ++l) most[l] = row[i + l] > most[l] ? row[i + l] : most[l];
    for (i64 l = 0; i + l < count; ++l) most[l] = row[i + l] > most[l] ? row[i + l] : most[l];
    return *std::max_element(most.begin(), most.end());
}

SHARD_INLINE float exponentiate(float* row, i64 count, float shift) {
    Lanes<float> sums = {};
    i64 i = 0;
    for (; i + lane_count <= count; i += lane_count)
        for (i64 l = 0; l < lane_count; ++l) sums[l] += row[i + l] = series::exp(row[i + l] - shift);
    for (i64 l = 0; i + l < count; ++l) sums[l] += row[i + l] = series::exp(row[i + l] - shift);
    for (i64 half = lane_count / 2; half > 0; half /= 2)
        for (i64 l = 0; l < half; ++l) sums[l] += sums[l + half];
    return sums[0];
}

SHARD_WIDE float wide_largest(const float* row, i64 count) { return largest(row, count); }
SHARD_WIDE float wide_exponentiate(float* row, i64 count, float shift) { return exponentiate(row, count, shift); }

} // namespace

float largest_of(const float* row, i64 count) {
    return has_wide_registers() ? wide_largest(row, count) : largest(row, count);
}

double largest_of(const double* row, i64 count) {
    double most = -std::numeric_limits<double>::infinity();
    for (i64 i = 0; i < count; ++i) most = row[i] > most ? row[i] : most;
    return most;
}

float exponentials(float* row, i64 count, float shift) {
    return has_wide_registers() ? wide_exponentiate(row, count, shift) : exponentiate(row, count, shift);
}

double exponentials(double* row, i64 count, double shift) {
    double sum = 0;
    for (i64 i = 0; i < count; ++i) sum += row[i] = std::exp(row[i] - shift);
    return sum;
}

} // namespace shard
