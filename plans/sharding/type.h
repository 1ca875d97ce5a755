// Shapes and tensor types.
#pragma once

#include "plans/dtype/dtype.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shard {

using Shape = std::vector<i64>;

std::optional<i64> checked_element_count(std::span<const i64> shape); // nullopt beyond 64 bits
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
