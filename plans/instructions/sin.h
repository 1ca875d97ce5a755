// The sine of x in radians.
#pragma once

#include "plans/instruction/instruction.h"

#include <cmath>

namespace shard {

template<>
struct Instruction<ScalarOp::sin> {
    static constexpr int operands = 1;
    static constexpr ScalarTypes types = ScalarTypes::floating;
    template<typename T>
    static T of(T x) {
        return std::sin(x);
    }
};

} // namespace shard
