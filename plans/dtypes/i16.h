// Whole numbers of 16 bits; what does not fit wraps.
#pragma once

#include "plans/dtype/dtype.h"
#include "plans/dtype/small_integer.h"

namespace shard {

template<>
struct ElementType<DType::i16> {
    using Element = SmallInteger<std::int16_t>;
    static constexpr std::string_view name = "i16";
    static constexpr std::string_view also[] = {"int16"};
};

} // namespace shard
