// Whole numbers of 8 and 16 bits, computed in 32, from which they wrap.
#pragma once

#include "plans/base/base.h"

#include <limits>
#include <type_traits>

namespace shard {

template<typename Stored>
struct SmallInteger {
    using Wide = std::conditional_t<std::is_signed_v<Stored>, std::int32_t, std::uint32_t>;
    using Limits = std::numeric_limits<Stored>;
    Stored value = 0;

    SmallInteger() = default;
    explicit SmallInteger(Wide wide) : value(static_cast<Stored>(wide)) {}
    explicit operator Wide() const { return value; }
};

} // namespace shard
