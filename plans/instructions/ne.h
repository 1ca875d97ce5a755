// Whether x differs from y.
#pragma once

#include "plans/instruction/instruction.h"

namespace shard {

template<>
struct Instruction<ScalarOp::ne> {
    static constexpr int operands = 2;
    static constexpr ScalarTypes types = ScalarTypes::test;
    template<typename T>
    static bool of(T x, T y) {
        return x != y;
    }
};

} // namespace shard
