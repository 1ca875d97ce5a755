// Whether x is neither infinite nor NaN.
#pragma once

#include "plans/instruction/instruction.h"

#include <cmath>
#include <type_traits>

namespace shard {

template<>
struct Instruction<ScalarOp::is_finite> {
    static constexpr int operands = 1;
    static constexpr ScalarTypes types = ScalarTypes::test;
    template<typename T>
    static bool of(T x) {
        if constexpr (std::is_floating_point_v<T>)
            return std::isfinite(x);
        else
            return true;
    }
};

} // namespace shard
