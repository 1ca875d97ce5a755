// The smallest whole number that is not below x.
#pragma once

#include "plans/instruction/instruction.h"
#include "plans/instruction/spelling.h"

#include <cmath>
#include <type_traits>

namespace shard {

template<>
struct Instruction<ScalarOp::ceil> {
    static constexpr int operands = 1;
    static constexpr ScalarTypes types = ScalarTypes::same;
    static constexpr Spelling spelling = {.jax = "jnp.ceil({0})", .stablehlo = "stablehlo.ceil"};
    template<typename T>
    static T of(T x) {
        if constexpr (std::is_floating_point_v<T>)
            return std::ceil(x);
        else
            return x;
    }
};

} // namespace shard
