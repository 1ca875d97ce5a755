// The square root.
#pragma once

#include "plans/instruction/instruction.h"
#include "plans/instruction/spelling.h"

#include <cmath>

namespace shard {

template<>
struct Instruction<ScalarOp::sqrt> {
    static constexpr int operands = 1;
    static constexpr ScalarTypes types = ScalarTypes::floating;
    static constexpr Spelling spelling = {.jax = "jnp.sqrt({0})", .stablehlo = "stablehlo.sqrt"};
    template<typename T>
    static T of(T x) {
        return std::sqrt(x);
    }
};

} // namespace shard
