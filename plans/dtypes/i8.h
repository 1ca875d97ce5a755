// Whole numbers of 8 bits; what does not fit wraps.
#pragma once

#include "plans/dtype/dtype.h"
#include "plans/dtype/small_integer.h"

namespace shard {

template<>
struct ElementType<DType::i8> {
    using Element = SmallInteger<std::int8_t>;
    static constexpr std::string_view name = "i8";
    static constexpr std::string_view also[] = {"int8"};
};

} // namespace shard
