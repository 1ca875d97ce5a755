// x / 2^n towards minus infinity: numbers that can be negative keep their sign. If n, taken as unsigned, is the number
// of bits or more, only the sign is left, as in XLA.
#pragma once

#include "plans/instruction/instruction.h"
#include "plans/instruction/spelling.h"

#include <type_traits>

namespace shard {

template<>
struct Instruction<ScalarOp::shift_right> {
    static constexpr int operands = 2;
    static constexpr ScalarTypes types = ScalarTypes::whole;
    static constexpr Spelling spelling = {.jax = "jnp.right_shift({0}, {1})",
                                          .stablehlo = "stablehlo.shift_right_arithmetic",
                                          .stablehlo_of_unsigned = "stablehlo.shift_right_logical"};
    template<typename T>
    static T of(T x, T n) {
        using Bits = std::make_unsigned_t<T>;
        constexpr Bits width = 8 * sizeof(T);
        if (static_cast<Bits>(n) < width) return static_cast<T>(x >> static_cast<Bits>(n));
        if constexpr (std::is_signed_v<T>)
            if (x < 0) return T{-1};
        return T{0};
    }
};

} // namespace shard
