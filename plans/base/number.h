// A number that a plan holds for elements of values, where .nan, .inf and -0 may stand. It is used as the double that
// it is, and is equal to itself, as what a file gives back has to be: NaN is NaN, and 0 and -0 are two numbers.
//
//     Fill{Number(std::nan(""))} == Fill{Number(std::nan(""))}
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>

namespace shard {

struct Number {
    double value = 0;

    constexpr Number() = default;
    constexpr Number(double number) : value(number) {}
    constexpr operator double() const { return value; }

    friend bool operator==(Number a, Number b) {
        if (std::isnan(a.value) || std::isnan(b.value)) return std::isnan(a.value) && std::isnan(b.value);
        return a.value == b.value && std::signbit(a.value) == std::signbit(b.value);
    }
    template<class T>
    requires std::is_arithmetic_v<T>
    friend bool operator==(Number a, T b) { return a == Number(static_cast<double>(b)); }
};

// A whole number of any type as digits: those of u64 go beyond i64.
inline std::string whole_text(double value) {
    return value < 0x1p63 ? std::to_string(static_cast<std::int64_t>(value))
                          : std::to_string(static_cast<std::uint64_t>(value));
}

} // namespace shard
