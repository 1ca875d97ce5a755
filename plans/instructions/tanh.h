// The hyperbolic tangent.
#pragma once

#include "plans/instruction/instruction.h"

#include <cmath>

namespace shard {

template<>
struct Instruction<ScalarOp::tanh> {
    static constexpr int operands = 1;
    static constexpr ScalarTypes types = ScalarTypes::floating;
    template<typename T>
    static T of(T x) {
        return std::tanh(x);
    }
};

} // namespace shard
