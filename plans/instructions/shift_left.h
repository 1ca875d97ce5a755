// x * 2^n: the bits that leave are lost. All of them if n, taken as unsigned, is their number or more, as in XLA.
#pragma once

#include "plans/instruction/instruction.h"
#include "plans/instruction/spelling.h"

#include <type_traits>

namespace shard {

template<>
struct Instruction<ScalarOp::shift_left> {
    static constexpr int operands = 2;
    static constexpr ScalarTypes types = ScalarTypes::whole;
    static constexpr Spelling spelling = {.jax = "jnp.left_shift({0}, {1})", .stablehlo = "stablehlo.shift_left"};
    template<typename T>
    static T of(T x, T n) {
        using Bits = std::make_unsigned_t<T>;
        constexpr Bits width = 8 * sizeof(T);
        return static_cast<Bits>(n) < width ? static_cast<T>(static_cast<Bits>(x) << static_cast<Bits>(n)) : T{0};
    }
};

} // namespace shard
