// Copies of boxes: elements at constant strides on both sides, over any number of dims. Packing, transposes, slices,
// scatter and gather of shards all are this one loop, so the fast paths (contiguous runs, blocked transposes) are
// written once.
#pragma once

#include "plans/sharding/type.h"

#include <cstddef>

namespace shard {

struct CopyDim {
    i64 extent = 1;
    i64 to = 1, from = 1; // strides in elements; from 0 repeats, negative reverses
};

// Drops dims of extent 1, orders by the target's stride (outermost first) and joins dims that are one run on both
// sides.
std::vector<CopyDim> normalised(std::vector<CopyDim> dims);

// to and from point at the first element; element_bytes is 1, 2, 4 or 8.
void copy_strided(std::byte* to, const std::byte* from, i64 element_bytes, const std::vector<CopyDim>& dims);

// The same between two element types (conversion as convert_value in executor/elements/element.h).
void convert_strided(std::byte* to, DType to_type, const std::byte* from, DType from_type,
                     const std::vector<CopyDim>& dims);

// The dims of a box of `extent` between two row-major arrays.
std::vector<CopyDim> box_copy(const Shape& extent, const Shape& to_shape, const Shape& from_shape);
// Offset in elements of an index in a row-major array.
i64 flat_index(const Shape& shape, std::span<const i64> index);

} // namespace shard
