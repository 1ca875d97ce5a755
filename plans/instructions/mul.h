// x * y; whole numbers wrap, of booleans it is "and".
#pragma once

#include "plans/instruction/instruction.h"
#include "plans/instruction/spelling.h"

#include <cstdint>
#include <type_traits>

namespace shard {

template<>
struct Instruction<ScalarOp::mul> {
    static constexpr int operands = 2;
    static constexpr ScalarTypes types = ScalarTypes::same;
    static constexpr Spelling spelling = {.jax = "{0} * {1}", .stablehlo = "stablehlo.multiply"};
    template<typename T>
    static T of(T x, T y) {
        if constexpr (std::is_same_v<T, std::uint8_t>)
            return static_cast<T>(x & y);
        else if constexpr (std::is_integral_v<T>)
            return static_cast<T>(static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(y));
        else
            return x * y;
    }
};

} // namespace shard
