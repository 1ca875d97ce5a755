// The absolute value; that of the least whole number wraps to itself.
#pragma once

#include "plans/instruction/instruction.h"
#include "plans/instruction/spelling.h"

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace shard {

template<>
struct Instruction<ScalarOp::abs> {
    static constexpr int operands = 1;
    static constexpr ScalarTypes types = ScalarTypes::same;
    static constexpr Spelling spelling = {.jax = "jnp.abs({0})", .stablehlo = "stablehlo.abs"};
    template<typename T>
    static T of(T x) {
        if constexpr (std::is_floating_point_v<T>)
            return std::fabs(x);
        else
            return x < 0 ? static_cast<T>(std::uint64_t{0} - static_cast<std::uint64_t>(x)) : x;
    }
};

} // namespace shard
