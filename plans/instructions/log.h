// The natural logarithm.
#pragma once

#include "plans/instruction/instruction.h"
#include "plans/instruction/series.h"
#include "plans/instruction/spelling.h"

#include <cmath>
#include <type_traits>

namespace shard {

template<>
struct Instruction<ScalarOp::log> {
    static constexpr int operands = 1;
    static constexpr ScalarTypes types = ScalarTypes::floating;
    static constexpr bool is_series = true;
    static constexpr Spelling spelling = {.jax = "jnp.log({0})", .stablehlo = "stablehlo.log"};
    template<typename T>
    static T of(T x) {
        if constexpr (std::is_same_v<T, float>)
            return series::log(x);
        else
            return std::log(x);
    }
};

} // namespace shard
