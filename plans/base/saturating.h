// Sums and products of byte counts that stay at the largest number instead of wrapping. A way that would send more than
// 64 bits can count may be priced; it is never the cheapest.
#pragma once

#include "plans/base/checked.h"

#include <limits>

namespace shard {

inline i64 add_saturating(i64 a, i64 b) {
    i64 sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<i64>::max() : sum;
}

inline i64 multiply_saturating(i64 a, i64 b) {
    return checked_multiply(a, b).value_or(std::numeric_limits<i64>::max());
}

} // namespace shard
