// x to the power of y. Whole numbers wrap; a negative exponent gives the truncated reciprocal: 0 except for 1 and -1.
#pragma once

#include "plans/instruction/instruction.h"
#include "plans/instruction/spelling.h"

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace shard {

template<>
struct Instruction<ScalarOp::pow> {
    static constexpr int operands = 2;
    static constexpr ScalarTypes types = ScalarTypes::same;
    static constexpr bool is_series = true;
    static constexpr Spelling spelling = {.jax = "jnp.power({0}, {1})", .stablehlo = "stablehlo.power"};
    template<typename T>
    static T of(T x, T y) {
        if constexpr (std::is_floating_point_v<T>) {
            return std::pow(x, y);
        } else {
            if constexpr (std::is_signed_v<T>)
                if (y < 0) return x == 1 ? T{1} : x == -1 ? static_cast<T>(y % 2 == 0 ? 1 : -1) : T{0};
            std::uint64_t result = 1, square = static_cast<std::uint64_t>(x);
            for (std::uint64_t left = static_cast<std::uint64_t>(y); left != 0; left >>= 1, square *= square)
                if ((left & 1u) != 0) result *= square;
            return static_cast<T>(result);
        }
    }
};

} // namespace shard
