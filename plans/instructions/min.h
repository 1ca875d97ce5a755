// The smaller of two; NaN if one is NaN.
#pragma once

#include "plans/instruction/instruction.h"
#include "plans/instruction/spelling.h"

namespace shard {

template<>
struct Instruction<ScalarOp::min> {
    static constexpr int operands = 2;
    static constexpr ScalarTypes types = ScalarTypes::same;
    static constexpr Spelling spelling = {.jax = "jnp.minimum({0}, {1})", .stablehlo = "stablehlo.minimum"};
    template<typename T>
    static T of(T x, T y) {
        return x < y || x != x ? x : y;
    }
};

} // namespace shard
