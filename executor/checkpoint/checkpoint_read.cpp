// Blocks of stored tensors, by ranges of bytes.
#include "executor/checkpoint/checkpoint.h"
#include "executor/elements/strided.h"
#include "executor/formats/storage.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

// Runs of bytes that are less than a page apart are read together: the operating system reads pages anyway, and calls
// cost more than bytes.
constexpr i64 largest_gap = 4096;
constexpr i64 largest_read = i64{1} << 20; // into memory of its own

struct Source {
    const RangeFile* file;
    StoredType type;
    std::string* problem;
};

// A box of elements, from `offset` in the file.
bool read_box(const Source& source, i64 offset, std::byte* to, DType to_type, std::vector<CopyDim> dims) {
    const i64 size = byte_size(source.type.dtype);
    i64 span = 1, needed = 1; // elements from the first to the last, and those of them that are wanted
    for (const CopyDim& dim : dims) {
        span += (dim.extent - 1) * dim.from;
        needed *= dim.extent;
    }
    const auto is_unit = [](const CopyDim& dim) { return dim.from == 1; };
    const auto unit = std::find_if(dims.begin(), dims.end(), is_unit);
    const i64 run = unit == dims.end() ? 1 : unit->extent;
    const bool is_run = dims.empty() || (dims.size() == 1 && dims[0].from == 1 && dims[0].to == 1);
    if (is_run && source.type.dtype == to_type && is_plain(source.type))
        return source.file->read(offset, {to, static_cast<size_t>(needed * size)}, *source.problem);
    if (needed == 1 || (span * size <= largest_read && (span - needed) * size <= needed / run * largest_gap)) {
        std::vector<std::byte> bytes(span * size);
        if (!source.file->read(offset, bytes, *source.problem)) return false;
        if (!is_plain(source.type)) {
            std::vector<std::byte> elements(bytes.size());
            to_natural(elements.data(), bytes.data(), source.type, span);
            bytes = std::move(elements);
        }
        convert_strided(to, to_type, bytes.data(), source.type.dtype, dims);
        return true;
    }
    // Of the file's order, not of the tensor's: what is left lies together.
    const auto wider = [](const CopyDim& a, const CopyDim& b) {
        return (a.extent - 1) * a.from < (b.extent - 1) * b.from;
    };
    CopyDim& outer = *std::max_element(dims.begin(), dims.end(), wider);
    const i64 half = outer.extent / 2;
    std::vector<CopyDim> rest = dims;
    rest[&outer - dims.data()].extent -= half;
    const i64 rest_offset = offset + half * outer.from * size;
    std::byte* rest_to = to + half * outer.to * byte_size(to_type);
    outer.extent = half;
    return read_box(source, offset, to, to_type, normalised(std::move(dims))) &&
           read_box(source, rest_offset, rest_to, to_type, normalised(std::move(rest)));
}

} // namespace

bool Checkpoint::read(const Buffer& input, std::span<const i64> start, std::byte* to, std::string& problem) const {
    const size_t rank = input.shape.size();
    for (const StoredPiece& piece : tensors_.at(input.name)) {
        std::vector<i64> from_index(rank), to_index(rank);
        Shape extent(rank);
        bool meets = true;
        for (size_t d = 0; d < rank; ++d) {
            const i64 begin = std::max(start[d], piece.start[d]);
            const i64 end = std::min(start[d] + input.shape[d], piece.start[d] + piece.shape[d]);
            meets = meets && begin < end;
            extent[d] = end - begin;
            from_index[d] = begin - piece.start[d];
            to_index[d] = begin - start[d];
        }
        if (!meets) continue;
        const std::string path = path_of(piece.file);
        const std::optional<RangeFile> file = RangeFile::open(path, problem);
        std::vector<CopyDim> dims = box_copy(extent, input.shape, piece.shape);
        i64 first = flat_index(piece.shape, from_index);
        if (!piece.strides.empty()) {
            first = 0;
            for (size_t d = 0; d < rank; ++d) {
                dims[d].from = piece.strides[d];
                first += from_index[d] * piece.strides[d];
            }
        }
        const i64 offset = piece.offset + first * byte_size(piece.type.dtype);
        std::byte* target = to + flat_index(input.shape, to_index) * byte_size(input.dtype);
        if (!file ||
            !read_box({&*file, piece.type, &problem}, offset, target, input.dtype, normalised(std::move(dims)))) {
            problem = fmt::format("cannot read {}: {}", path, problem);
            return false;
        }
    }
    return true;
}

} // namespace shard
