#include "plans/sharding/type.h"

#include "plans/base/checked.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {

std::optional<i64> checked_element_count(std::span<const i64> shape) {
    std::optional<i64> count = 1;
    for (i64 size : shape) {
        count = checked_multiply(*count, size);
        if (!count) return std::nullopt;
    }
    return count;
}

i64 element_count(std::span<const i64> shape) {
    std::optional<i64> count = checked_element_count(shape);
    internal_check(count.has_value(), "element count overflows");
    return *count;
}

std::vector<i64> row_major_strides(std::span<const i64> shape) {
    std::vector<i64> strides(shape.size());
    i64 stride = 1;
    for (size_t d = shape.size(); d-- > 0;) {
        strides[d] = stride;
        stride *= shape[d];
    }
    return strides;
}

std::string shape_text(std::span<const i64> shape) {
    if (shape.size() == 1) return fmt::format("({},)", shape[0]);
    return fmt::format("({})", fmt::join(shape, ", "));
}

} // namespace shard
