// The bits that both have.
#pragma once

#include "plans/instruction/instruction.h"
#include "plans/instruction/spelling.h"

namespace shard {

template<>
struct Instruction<ScalarOp::bit_and> {
    static constexpr int operands = 2;
    static constexpr ScalarTypes types = ScalarTypes::whole;
    static constexpr Spelling spelling = {.jax = "{0} & {1}", .stablehlo = "stablehlo.and"};
    template<typename T>
    static T of(T x, T y) {
        return static_cast<T>(x & y);
    }
};

} // namespace shard
