// The remainder of the truncated division, with the sign of x. Of whole numbers x % 0 is x, as in XLA.
#pragma once

#include "plans/instruction/instruction.h"
#include "plans/instruction/spelling.h"

#include <cmath>
#include <type_traits>

namespace shard {

template<>
struct Instruction<ScalarOp::rem> {
    static constexpr int operands = 2;
    static constexpr ScalarTypes types = ScalarTypes::same;
    static constexpr Spelling spelling = {.jax = "jnp.fmod({0}, {1})", .stablehlo = "stablehlo.remainder"};
    template<typename T>
    static T of(T x, T y) {
        if constexpr (std::is_floating_point_v<T>) {
            return std::fmod(x, y);
        } else {
            if (y == 0) return x;
            if constexpr (std::is_signed_v<T>)
                if (y == -1) return 0;
            return static_cast<T>(x % y);
        }
    }
};

} // namespace shard
