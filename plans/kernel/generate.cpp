#include "plans/kernel/generate.h"

#include "plans/base/saturating.h"

namespace shard {

std::optional<size_t> stack_dims(const Shape& shape, size_t entries) {
    i64 count = 1;
    for (size_t d = 0; d < shape.size(); ++d) {
        count = multiply_saturating(count, shape[d]);
        if (count == static_cast<i64>(entries)) return d + 1;
    }
    return std::nullopt;
}

} // namespace shard
