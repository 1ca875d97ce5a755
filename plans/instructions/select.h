// x where the predicate is true, else y.
#pragma once

#include "plans/instruction/instruction.h"
#include "plans/instruction/spelling.h"

#include <cstdint>

namespace shard {

template<>
struct Instruction<ScalarOp::select> {
    static constexpr int operands = 3;
    static constexpr ScalarTypes types = ScalarTypes::choice;
    static constexpr Spelling spelling = {.jax = "jnp.where({0}, {1}, {2})", .stablehlo = "stablehlo.select"};
    template<typename T>
    static T of(std::uint8_t predicate, T x, T y) {
        return predicate != 0 ? x : y;
    }
};

} // namespace shard
