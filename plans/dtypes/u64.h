// Whole numbers from 0 of 64 bits; what does not fit wraps.
#pragma once

#include "plans/dtype/dtype.h"

namespace shard {

template<>
struct ElementType<DType::u64> {
    using Element = std::uint64_t;
    static constexpr std::string_view name = "u64";
    static constexpr std::string_view also[] = {"uint64"};
};

} // namespace shard
