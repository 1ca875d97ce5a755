// How an instruction is written in the languages of other engines. Python's is over its operands {0}, {1}, {2}; text
// that begins with an operand is an infix operator. StableHLO's is the op, which its operands follow.
//
//     static constexpr Spelling spelling = {.jax = "jnp.exp({0})", .stablehlo = "stablehlo.exponential"};
#pragma once

#include <string_view>

namespace shard {

struct Spelling {
    std::string_view jax;                        // Python over jax.numpy (jnp) and jax.lax (lax)
    std::string_view jax_of_integers = {};       // where whole numbers need another
    std::string_view stablehlo = {};             // or chlo's; a comparison with its direction. Empty: several ops
    std::string_view stablehlo_of_unsigned = {}; // where numbers from 0 need another
};

} // namespace shard
