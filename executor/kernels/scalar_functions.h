// What the scalar instructions compute on one element, by the type of the element: plans/kernel/scalar.h says what they
// mean. Floats are as libm's f32 and f64. Integers wrap; x / 0 is -1 (all bits set) and x % 0 is x, as in XLA.
#pragma once

#include "executor/elements/element.h"

namespace shard {

template<typename T>
T integer_divide(T a, T b) {
    if (b == 0) return static_cast<T>(-1);
    if constexpr (std::is_signed_v<T>)
        if (b == -1) return static_cast<T>(std::uint64_t{0} - static_cast<std::uint64_t>(a));
    return static_cast<T>(a / b);
}

template<typename T>
T integer_remainder(T a, T b) {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<T>)
        if (b == -1) return 0;
    return static_cast<T>(a % b);
}

// A negative exponent gives the truncated reciprocal: 0 except for 1 and -1.
template<typename T>
T integer_power(T base, T exponent) {
    if constexpr (std::is_signed_v<T>)
        if (exponent < 0) return base == 1 ? T{1} : base == -1 ? static_cast<T>(exponent % 2 == 0 ? 1 : -1) : T{0};
    std::uint64_t result = 1, square = static_cast<std::uint64_t>(base);
    for (std::uint64_t left = static_cast<std::uint64_t>(exponent); left != 0; left >>= 1, square *= square)
        if ((left & 1u) != 0) result *= square;
    return static_cast<T>(result);
}

template<typename T>
T sign_of(T x) {
    if constexpr (std::is_floating_point_v<T>)
        return x > 0 ? T{1} : x < 0 ? T{-1} : x; // keeps zeros' signs and NaN
    else
        return static_cast<T>((x > 0 ? 1 : 0) - (x < 0 ? 1 : 0));
}

template<typename T>
T logistic_of(T x) {
    return T{1} / (T{1} + std::exp(-x));
}

} // namespace shard
