// The first word of the key that comes of folding data into a key of two words.
#pragma once

#include "plans/instruction/instruction.h"
#include "plans/instruction/spelling.h"
#include "plans/random/random.h"

namespace shard {

template<>
struct Instruction<ScalarOp::fold_in_0> {
    static constexpr int operands = 3;
    static constexpr ScalarTypes types = ScalarTypes::words;
    static constexpr Spelling spelling = {.jax = "fold_in(({0}, {1}), {2})[0]"};
    static std::uint32_t of(std::uint32_t key_0, std::uint32_t key_1, std::uint32_t data) {
        return threefry2x32({key_0, key_1}, 0, data)[0];
    }
};

} // namespace shard
