// Elements of buffers as C++ types: f32 float, f64 double, bf16 Bf16, i32/u32/i64 the integers, boolean uint8_t (0 or
// 1). Conversions follow XLA: a float becomes an integer by truncation, saturating, NaN as 0; anything but 0 is true.
#pragma once

#include "plans/sharding/type.h"

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

namespace shard {

// bfloat16 in storage; arithmetic is float's.
struct Bf16 {
    std::uint16_t bits = 0;

    Bf16() = default;
    // Round to nearest even; a NaN stays one.
    explicit Bf16(float value) {
        const std::uint32_t word = std::bit_cast<std::uint32_t>(value);
        const std::uint32_t rounded = (word + 0x7FFFu + ((word >> 16) & 1u)) >> 16;
        const std::uint32_t quiet = (word >> 16) | 0x40u;
        bits = static_cast<std::uint16_t>((word & 0x7FFFFFFFu) > 0x7F800000u ? quiet : rounded);
    }
    explicit operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
};

// Calls f with a value of the element type, for a template to name the type.
template<typename F>
decltype(auto) visit_dtype(DType dtype, F&& f) {
    switch (dtype) {
    case DType::f32:
        return f(float{});
    case DType::f64:
        return f(double{});
    case DType::bf16:
        return f(Bf16{});
    case DType::i32:
        return f(std::int32_t{});
    case DType::i64:
        return f(std::int64_t{});
    case DType::u32:
        return f(std::uint32_t{});
    case DType::boolean:
        return f(std::uint8_t{});
    }
    internal_error("element type without a C++ type");
}

template<typename To, typename From>
To convert_value(From value) {
    if constexpr (std::is_same_v<To, From>) {
        return value;
    } else if constexpr (std::is_same_v<From, Bf16>) {
        return convert_value<To>(static_cast<float>(value));
    } else if constexpr (std::is_same_v<To, Bf16>) {
        return Bf16(static_cast<float>(value));
    } else if constexpr (std::is_same_v<To, std::uint8_t>) {
        return value != From{} ? std::uint8_t{1} : std::uint8_t{0};
    } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
        // 2^31, 2^32, 2^63 are exact floats; the largest integers are not.
        constexpr From low = static_cast<From>(std::numeric_limits<To>::min());
        const From limit = std::ldexp(From{1}, std::numeric_limits<To>::digits);
        if (!(value == value)) return 0;
        if (value < low) return std::numeric_limits<To>::min();
        if (value >= limit) return std::numeric_limits<To>::max();
        return static_cast<To>(value);
    } else {
        return static_cast<To>(value);
    }
}

} // namespace shard
