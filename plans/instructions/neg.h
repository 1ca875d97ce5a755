// -x; whole numbers wrap.
#pragma once

#include "plans/instruction/instruction.h"
#include "plans/instruction/spelling.h"

#include <cstdint>
#include <type_traits>

namespace shard {

template<>
struct Instruction<ScalarOp::neg> {
    static constexpr int operands = 1;
    static constexpr ScalarTypes types = ScalarTypes::same;
    static constexpr Spelling spelling = {.jax = "-{0}", .stablehlo = "stablehlo.negate"};
    template<typename T>
    static T of(T x) {
        if constexpr (std::is_floating_point_v<T>)
            return -x;
        else
            return static_cast<T>(std::uint64_t{0} - static_cast<std::uint64_t>(x));
    }
};

} // namespace shard
