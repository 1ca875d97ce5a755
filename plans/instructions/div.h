// x / y. Whole numbers truncate and wrap; x / 0 is -1 (all bits set), as in XLA.
#pragma once

#include "plans/instruction/instruction.h"
#include "plans/instruction/spelling.h"

#include <cstdint>
#include <type_traits>

namespace shard {

template<>
struct Instruction<ScalarOp::div> {
    static constexpr int operands = 2;
    static constexpr ScalarTypes types = ScalarTypes::same;
    static constexpr Spelling spelling = {.jax = "{0} / {1}",
                                          .jax_of_integers = "lax.div(*jnp.broadcast_arrays({0}, {1}))",
                                          .stablehlo = "stablehlo.divide"};
    template<typename T>
    static T of(T x, T y) {
        if constexpr (std::is_floating_point_v<T>) {
            return x / y;
        } else {
            if (y == 0) return static_cast<T>(-1);
            if constexpr (std::is_signed_v<T>)
                if (y == -1) return static_cast<T>(std::uint64_t{0} - static_cast<std::uint64_t>(x));
            return static_cast<T>(x / y);
        }
    }
};

} // namespace shard
