// IEEE 754 binary32.
#pragma once

#include "plans/dtype/dtype.h"

namespace shard {

template<>
struct ElementType<DType::f32> {
    using Element = float;
    static constexpr std::string_view name = "f32";
    static constexpr std::string_view also[] = {"float32", "float", "fp32", "single"};
};

} // namespace shard
