// Whether x is at most y.
#pragma once

#include "plans/instruction/instruction.h"
#include "plans/instruction/spelling.h"

namespace shard {

template<>
struct Instruction<ScalarOp::le> {
    static constexpr int operands = 2;
    static constexpr ScalarTypes types = ScalarTypes::test;
    static constexpr Spelling spelling = {.jax = "{0} <= {1}", .stablehlo = "stablehlo.compare LE,"};
    template<typename T>
    static bool of(T x, T y) {
        return x <= y;
    }
};

} // namespace shard
