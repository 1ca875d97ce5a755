#include "plans/sharding/type.h"

#include "plans/base/checked.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {

namespace {

struct DTypeInfo {
    DType dtype;
    std::string_view name;
    i64 bytes;
};

constexpr DTypeInfo dtypes[] = {
    {DType::f32, "f32", 4}, {DType::f64, "f64", 8}, {DType::bf16, "bf16", 2},    {DType::i32, "i32", 4},
    {DType::i64, "i64", 8}, {DType::u32, "u32", 4}, {DType::boolean, "bool", 1},
};

const DTypeInfo& info(DType dtype) { return dtypes[static_cast<size_t>(dtype)]; }

} // namespace

i64 byte_size(DType dtype) { return info(dtype).bytes; }
std::string_view name(DType dtype) { return info(dtype).name; }

std::optional<DType> parse_dtype(std::string_view text) {
    for (const DTypeInfo& entry : dtypes)
        if (entry.name == text) return entry.dtype;
    return std::nullopt;
}

bool is_floating(DType dtype) { return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::bf16; }
bool is_integer(DType dtype) { return dtype == DType::i32 || dtype == DType::i64 || dtype == DType::u32; }

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
