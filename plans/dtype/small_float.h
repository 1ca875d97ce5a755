// Floating-point numbers of 16 and 8 bits that C++ does not have: a sign, `exponent_bits` of exponent, `fraction_bits`
// of fraction, in the order of IEEE 754. Of the exponent's last value, IEEE's types make infinities and NaN; those
// called "fn" (finite) make numbers of it, and NaN of all bits set alone. What is too large becomes infinity, or NaN
// where there is none, as in XLA.
#pragma once

#include "plans/base/base.h"

#include <bit>
#include <type_traits>

namespace shard {

template<int exponent_bits, int fraction_bits, bool finite>
struct SmallFloat {
    using Wide = float; // holds every value
    using Bits = std::conditional_t<exponent_bits + fraction_bits == 7, std::uint8_t, std::uint16_t>;
    Bits bits = 0;

    static constexpr int significand = fraction_bits + 1;
    static constexpr int bias = (1 << (exponent_bits - 1)) - 1;

    SmallFloat() = default;

    // Round to nearest even; a NaN stays one.
    explicit SmallFloat(float value) {
        const std::uint32_t word = std::bit_cast<std::uint32_t>(value), size = word & 0x7FFFFFFFu;
        constexpr int dropped = 23 - fraction_bits;
        std::uint32_t rounded;
        if (size > 0x7F800000u) {
            rounded = nan;
        } else if (size < std::uint32_t{127 - bias + 1} << 23) { // subnormal: a float whose last bit is this one's
            constexpr std::uint32_t unit = static_cast<std::uint32_t>(127 + dropped - bias + 1) << 23;
            rounded = std::bit_cast<std::uint32_t>(std::bit_cast<float>(size) + std::bit_cast<float>(unit)) - unit;
        } else {
            rounded = (size + (1u << (dropped - 1)) - 1 + ((size >> dropped) & 1u)) >> dropped;
            rounded -= static_cast<std::uint32_t>(127 - bias) << fraction_bits;
            if (rounded > largest_bits) rounded = finite ? nan : infinity;
        }
        bits = static_cast<Bits>(rounded | (word >> 31) << (exponent_bits + fraction_bits));
    }

    explicit operator float() const {
        constexpr int dropped = 23 - fraction_bits;
        const std::uint32_t size = bits & all,
                            sign = static_cast<std::uint32_t>(bits >> (exponent_bits + fraction_bits)) << 31;
        std::uint32_t word;
        if (size > largest_bits) {
            word = size == infinity && !finite ? 0x7F800000u : 0x7FC00000u;
        } else if (size < 1u << fraction_bits) {
            constexpr std::uint32_t last = static_cast<std::uint32_t>(127 - bias + 1 - fraction_bits) << 23;
            word = std::bit_cast<std::uint32_t>(static_cast<float>(size) * std::bit_cast<float>(last));
        } else {
            word = (size + (static_cast<std::uint32_t>(127 - bias) << fraction_bits)) << dropped;
        }
        return std::bit_cast<float>(word | sign);
    }

private:
    static constexpr std::uint32_t all = (1u << (exponent_bits + fraction_bits)) - 1;
    static constexpr std::uint32_t infinity = ((1u << exponent_bits) - 1) << fraction_bits; // of IEEE's types
    static constexpr std::uint32_t nan = finite ? all : infinity | 1u << (fraction_bits - 1);
    static constexpr std::uint32_t largest_bits = (finite ? all : infinity) - 1;
};

} // namespace shard
