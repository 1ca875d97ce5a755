// Whether x is false.
#pragma once

#include "plans/instruction/instruction.h"
#include "plans/instruction/spelling.h"

namespace shard {

template<>
struct Instruction<ScalarOp::logical_not> {
    static constexpr int operands = 1;
    static constexpr ScalarTypes types = ScalarTypes::test;
    static constexpr Spelling spelling = {.jax = "~{0}", .stablehlo = "stablehlo.not"};
    template<typename T>
    static bool of(T x) {
        return x == T{};
    }
};

} // namespace shard
