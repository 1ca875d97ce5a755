// x - y; whole numbers wrap.
#pragma once

#include "plans/instruction/instruction.h"
#include "plans/instruction/spelling.h"

#include <cstdint>
#include <type_traits>

namespace shard {

template<>
struct Instruction<ScalarOp::sub> {
    static constexpr int operands = 2;
    static constexpr ScalarTypes types = ScalarTypes::same;
    static constexpr Spelling spelling = {.jax = "{0} - {1}", .stablehlo = "stablehlo.subtract"};
    template<typename T>
    static T of(T x, T y) {
        if constexpr (std::is_floating_point_v<T>)
            return x - y;
        else
            return static_cast<T>(static_cast<std::uint64_t>(x) - static_cast<std::uint64_t>(y));
    }
};

} // namespace shard
