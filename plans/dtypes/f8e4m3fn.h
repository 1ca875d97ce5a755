// The 8-bit float for weights and activations (Micikevicius et al., FP8 Formats for Deep Learning): no infinities.
#pragma once

#include "plans/dtype/dtype.h"
#include "plans/dtype/small_float.h"

namespace shard {

template<>
struct ElementType<DType::f8e4m3fn> {
    using Element = SmallFloat<4, 3, true>;
    static constexpr std::string_view name = "f8e4m3fn";
    static constexpr std::string_view also[] = {"float8_e4m3fn", "e4m3fn", "e4m3", "fp8", "f8"};
    static constexpr double largest = 448;
};

} // namespace shard
