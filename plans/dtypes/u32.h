// Whole numbers from 0 in 32 bits; what does not fit wraps. Random bits and keys are of this type.
#pragma once

#include "plans/dtype/dtype.h"

namespace shard {

template<>
struct ElementType<DType::u32> {
    using Element = std::uint32_t;
    static constexpr std::string_view name = "u32";
    static constexpr std::string_view also[] = {"uint32", "uint", "unsigned"};
};

} // namespace shard
