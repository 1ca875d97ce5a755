#include "executor/elements/strided.h"

#include "executor/elements/element.h"

#include <algorithm>
#include <cstring>

namespace shard {

namespace {

constexpr i64 tile = 16; // of a blocked transpose: 16 x 16 floats are 16 cache lines on either side

template<typename To, typename From>
void copy_run(To* to, const From* from, i64 count, i64 to_stride, i64 from_stride) {
    if constexpr (std::is_same_v<To, From>) {
        if (to_stride == 1 && from_stride == 1) {
            std::memcpy(to, from, count * sizeof(To));
            return;
        }
    }
    if (to_stride == 1 && from_stride == 1) {
        for (i64 i = 0; i < count; ++i) to[i] = convert_value<To>(from[i]);
    } else {
        for (i64 i = 0; i < count; ++i) to[i * to_stride] = convert_value<To>(from[i * from_stride]);
    }
}

// The two innermost dims when the source runs along the outer one: tiles keep both sides in cache.
template<typename To, typename From>
void copy_tiles(To* to, const From* from, const CopyDim& outer, const CopyDim& inner) {
    for (i64 i0 = 0; i0 < outer.extent; i0 += tile) {
        const i64 rows = std::min(tile, outer.extent - i0);
        for (i64 j0 = 0; j0 < inner.extent; j0 += tile) {
            const i64 cols = std::min(tile, inner.extent - j0);
            To* t = to + i0 * outer.to + j0 * inner.to;
            const From* f = from + i0 * outer.from + j0 * inner.from;
            for (i64 i = 0; i < rows; ++i)
                for (i64 j = 0; j < cols; ++j)
                    t[i * outer.to + j * inner.to] = convert_value<To>(f[i * outer.from + j * inner.from]);
        }
    }
}

template<typename To, typename From>
void copy_dims(To* to, const From* from, std::span<const CopyDim> dims) {
    if (dims.empty()) {
        *to = convert_value<To>(*from);
    } else if (dims.size() == 1) {
        copy_run(to, from, dims[0].extent, dims[0].to, dims[0].from);
    } else if (dims.size() == 2 && dims[1].from != 1 && dims[0].from == 1) {
        copy_tiles(to, from, dims[0], dims[1]);
    } else {
        for (i64 i = 0; i < dims[0].extent; ++i)
            copy_dims(to + i * dims[0].to, from + i * dims[0].from, dims.subspan(1));
    }
}

template<typename To, typename From>
void copy_all(std::byte* to, const std::byte* from, const std::vector<CopyDim>& dims) {
    std::vector<CopyDim> loops = normalised(dims);
    for (const CopyDim& dim : loops)
        if (dim.extent <= 0) return;
    // A transpose with dims between the two contiguous ones: bring the source's contiguous dim next to the innermost.
    if (loops.size() > 2 && loops.back().from != 1) {
        const std::vector<CopyDim>::iterator unit =
            std::find_if(loops.begin(), loops.end() - 1, [](const CopyDim& dim) { return dim.from == 1; });
        if (unit != loops.end() - 1) std::rotate(unit, unit + 1, loops.end() - 1);
    }
    copy_dims(reinterpret_cast<To*>(to), reinterpret_cast<const From*>(from), std::span<const CopyDim>(loops));
}

} // namespace

std::vector<CopyDim> normalised(std::vector<CopyDim> dims) {
    std::erase_if(dims, [](const CopyDim& dim) { return dim.extent == 1; });
    std::stable_sort(dims.begin(), dims.end(), [](const CopyDim& a, const CopyDim& b) { return a.to > b.to; });
    std::vector<CopyDim> result;
    for (const CopyDim& dim : dims) {
        if (!result.empty() && result.back().to == dim.to * dim.extent && result.back().from == dim.from * dim.extent) {
            result.back() = {result.back().extent * dim.extent, dim.to, dim.from};
        } else {
            result.push_back(dim);
        }
    }
    return result;
}

void copy_strided(std::byte* to, const std::byte* from, i64 element_bytes, const std::vector<CopyDim>& dims) {
    switch (element_bytes) {
    case 1:
        return copy_all<std::uint8_t, std::uint8_t>(to, from, dims);
    case 2:
        return copy_all<std::uint16_t, std::uint16_t>(to, from, dims);
    case 4:
        return copy_all<std::uint32_t, std::uint32_t>(to, from, dims);
    case 8:
        return copy_all<std::uint64_t, std::uint64_t>(to, from, dims);
    default:
        internal_error("element of an odd size");
    }
}

void convert_strided(std::byte* to, DType to_type, const std::byte* from, DType from_type,
                     const std::vector<CopyDim>& dims) {
    if (to_type == from_type) return copy_strided(to, from, byte_size(to_type), dims);
    visit_dtype(to_type, [&](auto t) {
        visit_dtype(from_type, [&](auto f) { copy_all<decltype(t), decltype(f)>(to, from, dims); });
    });
}

std::vector<CopyDim> box_copy(const Shape& extent, const Shape& to_shape, const Shape& from_shape) {
    const std::vector<i64> to = row_major_strides(to_shape), from = row_major_strides(from_shape);
    std::vector<CopyDim> dims;
    for (size_t d = 0; d < extent.size(); ++d) dims.push_back({extent[d], to[d], from[d]});
    return dims;
}

i64 flat_index(const Shape& shape, std::span<const i64> index) {
    i64 flat = 0;
    for (size_t d = 0; d < shape.size(); ++d) flat = flat * shape[d] + index[d];
    return flat;
}

} // namespace shard
