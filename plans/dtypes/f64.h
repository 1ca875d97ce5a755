// IEEE 754 binary64.
#pragma once

#include "plans/dtype/dtype.h"

namespace shard {

template<>
struct ElementType<DType::f64> {
    using Element = double;
    static constexpr std::string_view name = "f64";
    static constexpr std::string_view also[] = {"float64", "double", "fp64"};
};

} // namespace shard
