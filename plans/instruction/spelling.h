// How an instruction is written in the languages of other engines, over its operands {0}, {1}, {2}. Text that begins
// with an operand is an infix operator.
//
//     static constexpr Spelling spelling = {.jax = "jnp.exp({0})"};
#pragma once

#include <string_view>

namespace shard {

struct Spelling {
    std::string_view jax;                  // Python over jax.numpy (jnp) and jax.lax (lax)
    std::string_view jax_of_integers = {}; // where whole numbers need another
};

} // namespace shard
