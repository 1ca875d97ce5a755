// Whether x is neither infinite nor NaN.
#pragma once

#include "plans/instruction/instruction.h"
#include "plans/instruction/spelling.h"

#include <cmath>
#include <type_traits>

namespace shard {

template<>
struct Instruction<ScalarOp::is_finite> {
    static constexpr int operands = 1;
    static constexpr ScalarTypes types = ScalarTypes::test;
    static constexpr Spelling spelling = {.jax = "jnp.isfinite({0})", .stablehlo = "stablehlo.is_finite"};
    template<typename T>
    static bool of(T x) {
        if constexpr (std::is_floating_point_v<T>)
            return std::isfinite(x);
        else
            return true;
    }
};

} // namespace shard
