// The nearest whole number, half to even.
#pragma once

#include "plans/instruction/instruction.h"
#include "plans/instruction/spelling.h"

#include <cmath>
#include <type_traits>

namespace shard {

template<>
struct Instruction<ScalarOp::round> {
    static constexpr int operands = 1;
    static constexpr ScalarTypes types = ScalarTypes::same;
    static constexpr Spelling spelling = {.jax = "jnp.round({0})", .stablehlo = "stablehlo.round_nearest_even"};
    template<typename T>
    static T of(T x) {
        if constexpr (std::is_floating_point_v<T>)
            return std::nearbyint(x);
        else
            return x;
    }
};

} // namespace shard
