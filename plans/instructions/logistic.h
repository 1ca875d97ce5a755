// 1 / (1 + exp(-x)).
#pragma once

#include "plans/instruction/instruction.h"
#include "plans/instruction/series.h"
#include "plans/instruction/spelling.h"

#include <cmath>
#include <type_traits>

namespace shard {

template<>
struct Instruction<ScalarOp::logistic> {
    static constexpr int operands = 1;
    static constexpr ScalarTypes types = ScalarTypes::floating;
    static constexpr bool is_series = true;
    static constexpr Spelling spelling = {.jax = "jax.nn.sigmoid({0})", .stablehlo = "stablehlo.logistic"};
    template<typename T>
    static T of(T x) {
        if constexpr (std::is_same_v<T, float>)
            return series::logistic(x);
        else
            return T{1} / (T{1} + std::exp(-x));
    }
};

} // namespace shard
