// The cosine of x in radians.
#pragma once

#include "plans/instruction/instruction.h"
#include "plans/instruction/spelling.h"

#include <cmath>

namespace shard {

template<>
struct Instruction<ScalarOp::cos> {
    static constexpr int operands = 1;
    static constexpr ScalarTypes types = ScalarTypes::floating;
    static constexpr bool is_series = true;
    static constexpr Spelling spelling = {.jax = "jnp.cos({0})", .stablehlo = "stablehlo.cosine"};
    template<typename T>
    static T of(T x) {
        return std::cos(x);
    }
};

} // namespace shard
