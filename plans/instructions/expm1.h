// exp(x) - 1, exact where x is near 0.
#pragma once

#include "plans/instruction/instruction.h"
#include "plans/instruction/series.h"
#include "plans/instruction/spelling.h"

#include <cmath>
#include <type_traits>

namespace shard {

template<>
struct Instruction<ScalarOp::expm1> {
    static constexpr int operands = 1;
    static constexpr ScalarTypes types = ScalarTypes::floating;
    static constexpr bool is_series = true;
    static constexpr Spelling spelling = {.jax = "jnp.expm1({0})", .stablehlo = "stablehlo.exponential_minus_one"};
    template<typename T>
    static T of(T x) {
        if constexpr (std::is_same_v<T, float>)
            return series::expm1(x);
        else
            return std::expm1(x);
    }
};

} // namespace shard
