// 1 - erf(x), exact where erf(x) is near 1.
#pragma once

#include "plans/instruction/instruction.h"
#include "plans/instruction/spelling.h"

#include <cmath>

namespace shard {

template<>
struct Instruction<ScalarOp::erfc> {
    static constexpr int operands = 1;
    static constexpr ScalarTypes types = ScalarTypes::floating;
    static constexpr bool is_series = true;
    static constexpr Spelling spelling = {.jax = "lax.erfc({0})", .stablehlo = "chlo.erfc"};
    template<typename T>
    static T of(T x) {
        return std::erfc(x);
    }
};

} // namespace shard
