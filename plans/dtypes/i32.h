// Whole numbers of 32 bits; what does not fit wraps.
#pragma once

#include "plans/dtype/dtype.h"

namespace shard {

template<>
struct ElementType<DType::i32> {
    using Element = std::int32_t;
    static constexpr std::string_view name = "i32";
    static constexpr std::string_view also[] = {"int32", "int", "integer"};
};

} // namespace shard
