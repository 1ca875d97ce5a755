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
struct ComputedAs {
    using Type = Element;
};
template<typename Element>
requires is_narrow<Element>
struct ComputedAs<Element> {
    using Type = typename Element::Wide;
};
template<typename Element>
using Computed = typename ComputedAs<Element>::Type;

template<typename Element>
constexpr bool is_float_element = std::is_floating_point_v<Computed<Element>>;

// The range of whole numbers.
template<typename Element>
struct WholeLimits : std::numeric_limits<Element> {};
template<typename Element>
requires is_narrow<Element>
struct WholeLimits<Element> : Element::Limits {
};

// A float as the nearest whole number towards zero that there is; NaN as 0.
template<typename To, typename From>
Computed<To> saturated(From value) {
    using Limits = WholeLimits<To>;
    // Powers of 2 are exact floats; the largest integers of 32 and 64 bits are not.
    constexpr From low = static_cast<From>(Limits::min());
    const From limit = std::ldexp(From{1}, Limits::digits);
    if (!(value == value)) return 0;
    if (value < low) return Limits::min();
    if (value >= limit) return Limits::max();
    return static_cast<Computed<To>>(value);
}

// As a cast does.
template<typename To, typename From>
To convert_value(From value) {
    if constexpr (std::is_same_v<To, From>) {
        return value;
    } else if constexpr (is_narrow<From>) {
        return convert_value<To>(static_cast<Computed<From>>(value));
    } else if constexpr (std::is_same_v<To, std::uint8_t>) {
        return value != From{} ? std::uint8_t{1} : std::uint8_t{0};
    } else if constexpr (std::is_floating_point_v<From> && !is_float_element<To>) {
        return static_cast<To>(saturated<To>(value));
    } else if constexpr (is_narrow<To>) {
        return To(static_cast<Computed<To>>(value));
    } else {
        return static_cast<To>(value);
    }
}

} // namespace shard
