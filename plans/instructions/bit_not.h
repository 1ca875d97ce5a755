// The bits that x lacks.
#pragma once

#include "plans/instruction/instruction.h"
#include "plans/instruction/spelling.h"

namespace shard {

template<>
struct Instruction<ScalarOp::bit_not> {
    static constexpr int operands = 1;
    static constexpr ScalarTypes types = ScalarTypes::whole;
    static constexpr Spelling spelling = {.jax = "~{0}", .stablehlo = "stablehlo.not"};
    template<typename T>
    static T of(T x) {
        return static_cast<T>(~x);
    }
};

} // namespace shard
