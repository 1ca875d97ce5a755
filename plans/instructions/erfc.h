// 1 - erf(x), exact where erf(x) is near 1.
#pragma once

#include "plans/instruction/instruction.h"

#include <cmath>

namespace shard {

template<>
struct Instruction<ScalarOp::erfc> {
    static constexpr int operands = 1;
    static constexpr ScalarTypes types = ScalarTypes::floating;
    template<typename T>
    static T of(T x) {
        return std::erfc(x);
    }
};

} // namespace shard
