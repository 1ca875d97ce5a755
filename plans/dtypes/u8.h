// Whole numbers from 0 of 8 bits; what does not fit wraps.
#pragma once

#include "plans/dtype/dtype.h"
#include "plans/dtype/small_integer.h"

namespace shard {

template<>
struct ElementType<DType::u8> {
    using Element = SmallInteger<std::uint8_t>;
    static constexpr std::string_view name = "u8";
    static constexpr std::string_view also[] = {"uint8", "byte"};
};

} // namespace shard
