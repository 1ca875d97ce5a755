// Whole numbers of 64 bits; what does not fit wraps.
#pragma once

#include "plans/dtype/dtype.h"

namespace shard {

template<>
struct ElementType<DType::i64> {
    using Element = std::int64_t;
    static constexpr std::string_view name = "i64";
    static constexpr std::string_view also[] = {"int64", "long"};
};

} // namespace shard
