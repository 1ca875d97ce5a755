// Whole numbers from 0 of 16 bits; what does not fit wraps.
#pragma once

#include "plans/dtype/dtype.h"
#include "plans/dtype/small_integer.h"

namespace shard {

template<>
struct ElementType<DType::u16> {
    using Element = SmallInteger<std::uint16_t>;
    static constexpr std::string_view name = "u16";
    static constexpr std::string_view also[] = {"uint16"};
};

} // namespace shard
