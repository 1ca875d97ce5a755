// The angle of the point (y, x), in radians.
#pragma once

#include "plans/instruction/instruction.h"
#include "plans/instruction/spelling.h"

#include <cmath>

namespace shard {

template<>
struct Instruction<ScalarOp::atan2> {
    static constexpr int operands = 2;
    static constexpr ScalarTypes types = ScalarTypes::floating;
    static constexpr bool is_series = true;
    static constexpr Spelling spelling = {.jax = "jnp.arctan2({0}, {1})", .stablehlo = "stablehlo.atan2"};
    template<typename T>
    static T of(T x, T y) {
        return std::atan2(x, y);
    }
};

} // namespace shard
