// -1, 0 or 1; zeros keep their sign, NaN stays NaN.
#pragma once

#include "plans/instruction/instruction.h"
#include "plans/instruction/spelling.h"

#include <type_traits>

namespace shard {

template<>
struct Instruction<ScalarOp::sign> {
    static constexpr int operands = 1;
    static constexpr ScalarTypes types = ScalarTypes::same;
    static constexpr Spelling spelling = {.jax = "jnp.sign({0})", .stablehlo = "stablehlo.sign"};
    template<typename T>
    static T of(T x) {
        if constexpr (std::is_floating_point_v<T>)
            return x > 0 ? T{1} : x < 0 ? T{-1} : x;
        else
            return static_cast<T>((x > 0 ? 1 : 0) - (x < 0 ? 1 : 0));
    }
};

} // namespace shard
