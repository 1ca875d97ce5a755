// Whether one of the two is true.
#pragma once

#include "plans/instruction/instruction.h"
#include "plans/instruction/spelling.h"

namespace shard {

template<>
struct Instruction<ScalarOp::logical_or> {
    static constexpr int operands = 2;
    static constexpr ScalarTypes types = ScalarTypes::test;
    static constexpr Spelling spelling = {.jax = "{0} | {1}", .stablehlo = "stablehlo.or"};
    template<typename T>
    static bool of(T x, T y) {
        return x != T{} || y != T{};
    }
};

} // namespace shard
