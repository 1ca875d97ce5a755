// The float32 functions behind the samplers, each a fixed sequence of correctly rounded operations, so that every
// machine and compiler gives the same bits, and the same bits as JAX on CPU. A written fma rounds once; no other
// product and sum may be contracted into one: files that include this are compiled with -ffp-contract=off. There are no
// branches, so that loops over these functions can use vector registers.
//
// Sources: M. Giles, "Approximating the erfinv function" (2010) for erf_inv; the rational functions for erf and log1p
// are those of Eigen and Cephes, in the order of operations that XLA's CPU backend uses.
#pragma once

#include "plans/base/inline.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace shard {

// c[0] x^(n-1) + ... + c[n-1] by n - 1 fused steps. Written as a fold because compilers do not turn a loop inside a
// vector loop into vector code.
template<typename... Coefficients>
SHARD_INLINE float horner(float x, float first, Coefficients... rest) {
    float p = first;
    ((p = std::fma(p, x, rest)), ...);
    return p;
}

// log(x) for normal x > 0.
SHARD_INLINE float log_f32(float x) {
    const std::uint32_t word = std::bit_cast<std::uint32_t>(x);
    float exponent = static_cast<float>(static_cast<std::int32_t>(word >> 23) - 126);
    const float m = std::bit_cast<float>((word & 0x007FFFFFu) | 0x3F000000u); // in [0.5, 1)
    const bool low = m < 0.70710678f;
    exponent = low ? exponent - 1.0f : exponent;
    const float t = low ? (m - 1.0f) + m : m - 1.0f;
    const float t2 = t * t;
    const float t3 = t2 * t;
    float y = std::fma(std::fma(7.0376836292e-2f, t, -1.1514610310e-1f), t, 1.1676998740e-1f);
    const float y1 = std::fma(std::fma(-1.2420140846e-1f, t, 1.4249322787e-1f), t, -1.6668057665e-1f);
    const float y2 = std::fma(std::fma(2.0000714765e-1f, t, -2.4999993993e-1f), t, 3.3333331174e-1f);
    y = std::fma(std::fma(y, t3, y1), t3, y2);
    y = std::fma(y, t3, -2.12194440e-4f * exponent);
    return std::fma(0.693359375f, exponent, std::fma(-0.5f, t2, t) + y);
}

// log(1 + x) for -1 < x.
SHARD_INLINE float log1p_f32(float x) {
    const float numerator = horner(x, 4.5270000862445200e-5f, .49854102823193375f, 6.5787325942061045f,
                                   29.911919328553073f, 60.949667980987788f, 57.112963590585538f, 20.039553499201281f);
    const float denominator = horner(x, 1.0f, 15.062909083469192f, 83.047565967967209f, 221.76239823732856f,
                                     309.09872225312060f, 216.42788614495948f, 60.118660497603844f);
    const float x2 = x * x;
    const float ratio = (x * x2) * (numerator / denominator);
    const float near_zero = x + std::fma(-0.5f, x2, ratio);
    const float elsewhere = log_f32(1.0f + x);
    return std::fabs(x) < 0.41421356f ? near_zero : elsewhere;
}

// The inverse of erf on [-1, 1].
SHARD_INLINE float erf_inv_f32(float u) {
    const float w = -log1p_f32(-(u * u));
    const bool central = w < 5.0f;
    const float x = central ? w - 2.5f : std::sqrt(w) - 3.0f;
    float p = central ? 2.81022636e-08f : -0.000200214257f;
    p = std::fma(p, x, central ? 3.43273939e-07f : 0.000100950558f);
    p = std::fma(p, x, central ? -3.5233877e-06f : 0.00134934322f);
    p = std::fma(p, x, central ? -4.39150654e-06f : -0.00367342844f);
    p = std::fma(p, x, central ? 0.00021858087f : 0.00573950773f);
    p = std::fma(p, x, central ? -0.00125372503f : -0.0076224613f);
    p = std::fma(p, x, central ? -0.00417768164f : 0.00943887047f);
    p = std::fma(p, x, central ? 0.246640727f : 1.00167406f);
    p = std::fma(p, x, central ? 1.50140941f : 2.83297682f);
    return std::fabs(u) == 1.0f ? u * HUGE_VALF : p * u;
}

// erf(x); it is 1 or -1 beyond the limit.
SHARD_INLINE float erf_f32(float x) {
    const float limit = 3.7439211627767994f;
    const float t = x < -limit ? -limit : x > limit ? limit : x;
    const float t2 = t * t;
    const float numerator = horner(t2, .00022905065861350646f, .0034082910107109506f, .050955695062380861f,
                                   .18520832239976145f, 1.128379143519084f);
    const float denominator = horner(t2, -1.1791602954361697e-7f, .000023547966471313185f, .0010179625278914885f,
                                     .014070470171167667f, .11098505178285362f, .49746925110067538f, 1.0f);
    return t * numerator / denominator;
}

} // namespace shard
