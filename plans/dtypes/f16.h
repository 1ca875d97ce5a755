// IEEE 754 binary16.
#pragma once

#include "plans/dtype/dtype.h"
#include "plans/dtype/small_float.h"

namespace shard {

template<>
struct ElementType<DType::f16> {
    using Element = SmallFloat<5, 10, false>;
    static constexpr std::string_view name = "f16";
    static constexpr std::string_view also[] = {"float16", "fp16", "half"};
    static constexpr double largest = 65504;
};

} // namespace shard
