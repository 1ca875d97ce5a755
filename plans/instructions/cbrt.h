// The cube root, of negative numbers too.
#pragma once

#include "plans/instruction/instruction.h"
#include "plans/instruction/spelling.h"

#include <cmath>

namespace shard {

template<>
struct Instruction<ScalarOp::cbrt> {
    static constexpr int operands = 1;
    static constexpr ScalarTypes types = ScalarTypes::floating;
    static constexpr bool is_series = true;
    static constexpr Spelling spelling = {.jax = "jnp.cbrt({0})", .stablehlo = "stablehlo.cbrt"};
    template<typename T>
    static T of(T x) {
        return std::cbrt(x);
    }
};

} // namespace shard
