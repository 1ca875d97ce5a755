// Element types, shapes and tensor types.
#pragma once

#include "plans/base/base.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shard {

// g++ 12 takes the scoped enumerator i64 for a shadow of the alias.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
enum class DType { f32, f64, bf16, i32, i64, u32, boolean };
#pragma GCC diagnostic pop

i64 byte_size(DType dtype);         // bytes of one element; boolean and bf16 are stored in 1 and 2
std::string_view name(DType dtype); // "f32", ..., "bool"
std::optional<DType> parse_dtype(std::string_view text);
bool is_floating(DType dtype);
bool is_integer(DType dtype);

using Shape = std::vector<i64>;

std::optional<i64> checked_element_count(std::span<const i64> shape);
i64 element_count(std::span<const i64> shape); // internal error on overflow: types are checked when they are made
std::vector<i64> row_major_strides(std::span<const i64> shape); // in elements
std::string shape_text(std::span<const i64> shape);             // "(8, 1024)"

// shape and logical have one entry per dim; a dim without a logical axis name has an empty string.
struct TensorType {
    DType dtype = DType::f32;
    Shape shape;
    std::vector<std::string> logical;

    int rank() const { return static_cast<int>(shape.size()); }
    i64 elements() const { return element_count(shape); }
    i64 bytes() const { return elements() * byte_size(dtype); }
    bool operator==(const TensorType&) const = default;
};

} // namespace shard
