// log(1 + x), exact where x is near 0.
#pragma once

#include "plans/instruction/instruction.h"

#include <cmath>

namespace shard {

template<>
struct Instruction<ScalarOp::log1p> {
    static constexpr int operands = 1;
    static constexpr ScalarTypes types = ScalarTypes::floating;
    template<typename T>
    static T of(T x) {
        return std::log1p(x);
    }
};

} // namespace shard
