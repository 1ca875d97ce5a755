// The natural logarithm.
#pragma once

#include "plans/instruction/instruction.h"
#include "plans/instruction/spelling.h"

#include <cmath>

namespace shard {

template<>
struct Instruction<ScalarOp::log> {
    static constexpr int operands = 1;
    static constexpr ScalarTypes types = ScalarTypes::floating;
    static constexpr bool is_series = true;
    static constexpr Spelling spelling = {.jax = "jnp.log({0})", .stablehlo = "stablehlo.log"};
    template<typename T>
    static T of(T x) {
        return std::log(x);
    }
};

} // namespace shard
