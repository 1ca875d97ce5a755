#include "plans/base/checked.h"

namespace shard {

std::optional<i64> checked_multiply(i64 a, i64 b) {
    i64 product = 0;
    if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
    return product;
}

} // namespace shard
