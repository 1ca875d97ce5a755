// True and false, as bytes 1 and 0.
#pragma once

#include "plans/dtype/dtype.h"

namespace shard {

template<>
struct ElementType<DType::boolean> {
    using Element = std::uint8_t;
    static constexpr std::string_view name = "bool";
    static constexpr std::string_view also[] = {"boolean", "bool_", "i1"};
};

} // namespace shard
