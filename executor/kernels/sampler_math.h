// The float32 functions behind the samplers, each a fixed sequence of correctly rounded operations, so that every
// machine and compiler gives the same bits, and the same bits as JAX on CPU. A written fma rounds once; no other
// product and sum may be contracted into one: files that include this are compiled with -ffp-contract=off. There are no
// branches, so that loops over these functions can use vector registers.
//
// Sources: M. Giles, "Approximating the erfinv function" (2010) for erf_inv; Cephes for log, in the order of operations
// that XLA's CPU backend uses.
#pragma once

#include "plans/instruction/series.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace shard {

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
SHARD_INLINE float log1p_f32(float x) { return series::log1p_or<series::Rounding::once>(x, log_f32(1.0f + x)); }

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

SHARD_INLINE float erf_f32(float x) { return series::erf<series::Rounding::once>(x); }

} // namespace shard
