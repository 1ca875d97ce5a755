// Functions of one f32 by series, as fixed sequences of correctly rounded operations without a branch: loops over them
// use vector registers, and every machine that contracts no product and sum gives the same bits. Products and sums are
// rounded twice, as hardware without a fused operation does at speed, or once, as the samplers of JAX do. Largest errors, in
// units in the last place, over all f32: tests/plans/instruction/series_test.cpp.
//
// Sources: Cephes (S. Moshier) for exp and log; the rational functions of Eigen, which XLA's CPU backend has too, for
// tanh, erf and log1p.
#pragma once

#include "plans/base/inline.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace shard::series {

inline constexpr float infinity = std::numeric_limits<float>::infinity();

enum class Rounding { twice, once };

template<Rounding rounding>
SHARD_INLINE float multiply_add(float a, float b, float c) {
    if constexpr (rounding == Rounding::once)
        return std::fma(a, b, c);
    else
        return a * b + c;
}

// c[0] x^(n-1) + ... + c[n-1]. A fold: compilers do not turn a loop inside a vector loop into vector code.
template<Rounding rounding = Rounding::twice, typename... Coefficients>
SHARD_INLINE float polynomial(float x, float first, Coefficients... rest) {
    float p = first;
    ((p = multiply_add<rounding>(p, x, rest)), ...);
    return p;
}

// e^x = 2^n (1 + rest), |n log(2) - x| <= log(2) / 2.
struct Power {
    float rest;
    std::uint32_t n;
};

SHARD_INLINE Power power_of_e(float x) {
    constexpr float rounding = 12582912.0f; // 1.5 * 2^23: what is added to it is rounded to a whole number
    const float shifted = x * 1.44269504f + rounding;
    const float n = shifted - rounding;
    const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
    const float p = polynomial(r, 1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f,
                               1.6666665459e-1f, 5.0000001201e-1f);
    return {p * (r * r) + r, std::bit_cast<std::uint32_t>(shifted)};
}

// e^x; 0 and infinity beyond what normal f32 has.
SHARD_INLINE float exp(float x) {
    constexpr float low = -87.3f, high = 88.722f;
    const float kept = x < low ? low : x > high ? high : x;
    const Power power = power_of_e(kept);
    const float scaled = std::bit_cast<float>(std::bit_cast<std::uint32_t>(power.rest + 1.0f) + (power.n << 23));
    const float bounded = x < low ? 0.0f : x > high ? infinity : scaled;
    return x == x ? bounded : x; // the sum above may turn a NaN into a number
}

// e^x - 1.
SHARD_INLINE float expm1(float x) {
    constexpr float low = -87.3f, high = 80.0f;
    const float kept = x < low ? low : x > high ? high : x;
    const Power power = power_of_e(kept);
    const float scale = std::bit_cast<float>((power.n << 23) + 0x3F800000u);
    const float near = scale * power.rest + (scale - 1.0f);
    const float small = x == 0.0f ? x : near; // keeps the sign of 0
    return x > high ? exp(x) : small;
}

// The natural logarithm: -infinity of 0, NaN below.
SHARD_INLINE float log(float x) {
    constexpr float least = std::numeric_limits<float>::min();
    const bool subnormal = x < least;
    const std::uint32_t word = std::bit_cast<std::uint32_t>(subnormal ? x * 8388608.0f : x); // 2^23
    float exponent = static_cast<float>(static_cast<std::int32_t>(word >> 23) - (subnormal ? 149 : 126));
    const float m = std::bit_cast<float>((word & 0x007FFFFFu) | 0x3F000000u); // in [0.5, 1)
    const bool low = m < 0.70710678f;
    exponent = low ? exponent - 1.0f : exponent;
    const float t = low ? (m - 1.0f) + m : m - 1.0f;
    const float t2 = t * t;
    const float p =
        polynomial(t, 7.0376836292e-2f, -1.1514610310e-1f, 1.1676998740e-1f, -1.2420140846e-1f, 1.4249322787e-1f,
                   -1.6668057665e-1f, 2.0000714765e-1f, -2.4999993993e-1f, 3.3333331174e-1f);
    const float y = t * t2 * p + exponent * -2.12194440e-4f;
    const float value = (t + (y - 0.5f * t2)) + exponent * 0.693359375f;
    const float positive = x < infinity ? value : x; // infinity and NaN are what they were
    const float other = x == 0.0f ? -infinity : std::numeric_limits<float>::quiet_NaN();
    return x <= 0.0f ? other : positive;
}

// log(1 + x) for |x| < sqrt(2) - 1.
template<Rounding rounding = Rounding::twice>
SHARD_INLINE float log1p_near_zero(float x) {
    const float numerator =
        polynomial<rounding>(x, 4.5270000862445200e-5f, .49854102823193375f, 6.5787325942061045f, 29.911919328553073f,
                             60.949667980987788f, 57.112963590585538f, 20.039553499201281f);
    const float denominator =
        polynomial<rounding>(x, 1.0f, 15.062909083469192f, 83.047565967967209f, 221.76239823732856f,
                             309.09872225312060f, 216.42788614495948f, 60.118660497603844f);
    const float x2 = x * x;
    const float ratio = (x * x2) * (numerator / denominator);
    return x + multiply_add<rounding>(-0.5f, x2, ratio);
}

// What `elsewhere` is, log(1 + x), where the sum is not near 1.
template<Rounding rounding = Rounding::twice>
SHARD_INLINE float log1p_or(float x, float elsewhere) {
    const float near_zero = log1p_near_zero<rounding>(x);
    return std::fabs(x) < 0.41421356f ? near_zero : elsewhere;
}

SHARD_INLINE float log1p(float x) { return log1p_or(x, log(1.0f + x)); }

// 1 / (1 + e^-x).
SHARD_INLINE float logistic(float x) { return 1.0f / (1.0f + exp(-x)); }

// The hyperbolic tangent; it is 1 or -1 beyond the limit.
SHARD_INLINE float tanh(float x) {
    constexpr float limit = 7.90531110763549805f, nearly_linear = 0.0004f;
    const float t = x < -limit ? -limit : x > limit ? limit : x;
    const float t2 = t * t;
    const float numerator =
        polynomial(t2, -2.76076847742355e-16f, 2.00018790482477e-13f, -8.60467152213735e-11f, 5.12229709037114e-08f,
                   1.48572235717979e-05f, 6.37261928875436e-04f, 4.89352455891786e-03f);
    const float denominator =
        polynomial(t2, 1.19825839466702e-06f, 1.18534705686654e-04f, 2.26843463243900e-03f, 4.89352518554385e-03f);
    const float value = t * numerator / denominator;
    const float bounded = value > 1.0f ? 1.0f : value < -1.0f ? -1.0f : value;
    return std::fabs(x) < nearly_linear ? x : bounded;
}

// The error function; it is 1 or -1 beyond the limit.
template<Rounding rounding = Rounding::twice>
SHARD_INLINE float erf(float x) {
    constexpr float limit = 3.7439211627767994f;
    const float t = x < -limit ? -limit : x > limit ? limit : x;
    const float t2 = t * t;
    const float numerator = polynomial<rounding>(t2, .00022905065861350646f, .0034082910107109506f,
                                                 .050955695062380861f, .18520832239976145f, 1.128379143519084f);
    const float denominator =
        polynomial<rounding>(t2, -1.1791602954361697e-7f, .000023547966471313185f, .0010179625278914885f,
                             .014070470171167667f, .11098505178285362f, .49746925110067538f, 1.0f);
    return t * numerator / denominator;
}

} // namespace shard::series
