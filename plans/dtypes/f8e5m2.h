// The 8-bit float for gradients (Micikevicius et al., FP8 Formats for Deep Learning): the upper half of an f16.
#pragma once

#include "plans/dtype/dtype.h"
#include "plans/dtype/small_float.h"

namespace shard {

template<>
struct ElementType<DType::f8e5m2> {
    using Element = SmallFloat<5, 2, false>;
    static constexpr std::string_view name = "f8e5m2";
    static constexpr std::string_view also[] = {"float8_e5m2", "e5m2"};
    static constexpr double largest = 57344;
};

} // namespace shard
