// Whether x is false.
#pragma once

#include "plans/instruction/instruction.h"

namespace shard {

template<>
struct Instruction<ScalarOp::logical_not> {
    static constexpr int operands = 1;
    static constexpr ScalarTypes types = ScalarTypes::test;
    template<typename T>
    static bool of(T x) {
        return x == T{};
    }
};

} // namespace shard
