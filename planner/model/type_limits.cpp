#include "planner/model/type_limits.h"

#include "plans/base/checked.h"

#include <cmath>

namespace shard {

std::string_view size_problem(DType dtype, const Shape& shape) {
    const std::optional<i64> count = checked_element_count(shape);
    const std::optional<i64> bytes = count ? checked_multiply(*count, byte_size(dtype)) : std::nullopt;
    if (!bytes) return "its size in bytes does not fit 64 bits";
    return *bytes > most_value_bytes ? "it has more than 2^60 bytes" : "";
}

bool can_hold(DType dtype, double number) {
    // The least numbers that are rounded to infinity.
    constexpr double beyond_f32 = 0x1.ffffffp127, beyond_bf16 = 0x1.ffp127;
    const bool whole = number == std::floor(number);
    switch (dtype) {
    case DType::f64:
        return true;
    case DType::f32:
        return !std::isfinite(number) || std::fabs(number) < beyond_f32;
    case DType::bf16:
        return !std::isfinite(number) || std::fabs(number) < beyond_bf16;
    case DType::boolean:
        return number == 0 || number == 1;
    case DType::i32:
        return whole && number >= -0x1p31 && number < 0x1p31;
    case DType::u32:
        return whole && number >= 0 && number < 0x1p32;
    case DType::i64:
        return whole && number >= -0x1p63 && number < 0x1p63;
    }
    internal_error("a type without elements");
}

} // namespace shard
