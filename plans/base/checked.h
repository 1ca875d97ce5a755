// Arithmetic that says when a result does not fit.
#pragma once

#include "plans/base/base.h"

#include <optional>

namespace shard {

// A product that fits i64; nullopt on overflow. Inline: types and costs are asked for in the hundreds of thousands.
inline std::optional<i64> checked_multiply(i64 a, i64 b) {
    i64 product = 0;
    if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
    return product;
}

} // namespace shard
