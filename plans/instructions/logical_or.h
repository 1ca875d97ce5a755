// Whether one of the two is true.
#pragma once

#include "plans/instruction/instruction.h"

namespace shard {

template<>
struct Instruction<ScalarOp::logical_or> {
    static constexpr int operands = 2;
    static constexpr ScalarTypes types = ScalarTypes::test;
    template<typename T>
    static bool of(T x, T y) {
        return x != T{} || y != T{};
    }
};

} // namespace shard
