// 1 / sqrt(x).
#pragma once

#include "plans/instruction/instruction.h"
#include "plans/instruction/spelling.h"

#include <cmath>

namespace shard {

template<>
struct Instruction<ScalarOp::rsqrt> {
    static constexpr int operands = 1;
    static constexpr ScalarTypes types = ScalarTypes::floating;
    static constexpr Spelling spelling = {.jax = "lax.rsqrt({0})", .stablehlo = "stablehlo.rsqrt"};
    template<typename T>
    static T of(T x) {
        return T{1} / std::sqrt(x);
    }
};

} // namespace shard
