// x where the predicate is true, else y.
#pragma once

#include "plans/instruction/instruction.h"

#include <cstdint>

namespace shard {

template<>
struct Instruction<ScalarOp::select> {
    static constexpr int operands = 3;
    static constexpr ScalarTypes types = ScalarTypes::choice;
    template<typename T>
    static T of(std::uint8_t predicate, T x, T y) {
        return predicate != 0 ? x : y;
    }
};

} // namespace shard
