// The error function.
#pragma once

#include "plans/instruction/instruction.h"
#include "plans/instruction/series.h"
#include "plans/instruction/spelling.h"

#include <cmath>
#include <type_traits>

namespace shard {

template<>
struct Instruction<ScalarOp::erf> {
    static constexpr int operands = 1;
    static constexpr ScalarTypes types = ScalarTypes::floating;
    static constexpr bool is_series = true;
    static constexpr Spelling spelling = {.jax = "lax.erf({0})", .stablehlo = "chlo.erf"};
    template<typename T>
    static T of(T x) {
        if constexpr (std::is_same_v<T, float>)
            return series::erf(x);
        else
            return std::erf(x);
    }
};

} // namespace shard
