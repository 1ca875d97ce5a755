// log(1 + x), exact where x is near 0.
#pragma once

#include "plans/instruction/instruction.h"
#include "plans/instruction/series.h"
#include "plans/instruction/spelling.h"

#include <cmath>
#include <type_traits>

namespace shard {

template<>
struct Instruction<ScalarOp::log1p> {
    static constexpr int operands = 1;
    static constexpr ScalarTypes types = ScalarTypes::floating;
    static constexpr bool is_series = true;
    static constexpr Spelling spelling = {.jax = "jnp.log1p({0})", .stablehlo = "stablehlo.log_plus_one"};
    template<typename T>
    static T of(T x) {
        if constexpr (std::is_same_v<T, float>)
            return series::log1p(x);
        else
            return std::log1p(x);
    }
};

} // namespace shard
