// Elements of buffers as the C++ types that plans/dtypes/ says, and what is computed with. Conversions follow XLA: a
// float becomes an integer by truncation, saturating, NaN as 0; anything but 0 is true.
#pragma once

#include "plans/dtype/dtype.h"

#include "dtype_headers.inc"

#include <cmath>
#include <limits>
#include <type_traits>

namespace shard {

// Calls f with a value of the element type, for a template to name the type.
template<typename F>
decltype(auto) visit_dtype(DType dtype, F&& f) {
    switch (dtype) {
#define REGISTER(stem)                                                                                                 \
    case DType::stem:                                                                                                  \
        return f(ElementType<DType::stem>::Element{});
#include "dtype_registry.inc"
#undef REGISTER
    }
    internal_error("element type without a C++ type");
}

// What elements are computed with as.
template<typename Element>
using Computed = std::conditional_t<is_narrow<Element>, float, Element>;

// As a cast does.
template<typename To, typename From>
To convert_value(From value) {
    if constexpr (std::is_same_v<To, From>) {
        return value;
    } else if constexpr (is_narrow<From>) {
        return convert_value<To>(static_cast<float>(value));
    } else if constexpr (is_narrow<To>) {
        return To(static_cast<float>(value));
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
