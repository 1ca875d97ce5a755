#include "executor/kernels/pointwise_blocks.h"

#include <algorithm>

namespace shard {

namespace {

template<typename T>
Computed<T> held(T value) {
    return convert_value<Computed<T>>(value);
}

// f(position in the block, start in the source, length, stride in the source) for each run along the innermost dim.
template<typename F>
void for_each_run(const std::vector<CopyDim>& dims, i64 first, i64 width, F&& f) {
    const CopyDim& inner = dims.back();
    for (i64 done = 0; done < width;) {
        const i64 position = first + done;
        i64 from = 0;
        for (size_t d = 0; d + 1 < dims.size(); ++d) from += position / dims[d].to % dims[d].extent * dims[d].from;
        const i64 along = position % inner.extent;
        const i64 length = std::min(width - done, inner.extent - along);
        f(done, from + along * inner.from, length, inner.from);
        done += length;
    }
}

} // namespace

BlockSource block_source(const Operand& operand, const std::vector<int>& dims, const Shape& output) {
    const Shape& shape = *operand.shape;
    internal_check(dims.size() == shape.size(), "pointwise: one output dim per dim of an input");
    const std::vector<i64> in = row_major_strides(shape), out = row_major_strides(output);
    BlockSource source = {operand, {}};
    for (size_t d = 0; d < output.size(); ++d) source.dims.push_back({output[d], out[d], 0});
    for (size_t d = 0; d < shape.size(); ++d) {
        const size_t along = dims[d];
        internal_check(along < output.size() && (shape[d] == 1 || shape[d] == output[along]),
                       "pointwise: an input does not fit the output");
        if (shape[d] != 1) source.dims[along].from = in[d];
    }
    source.dims = normalised(source.dims);
    if (source.dims.empty()) source.dims.push_back({1, 1, 0});
    return source;
}

bool BlockSource::is_uniform() const {
    return std::all_of(dims.begin(), dims.end(), [](const CopyDim& dim) { return dim.from == 0; });
}

bool BlockSource::is_in_place() const {
    return dims.size() == 1 && dims[0].from == 1 && computed_as(operand.dtype) == operand.dtype;
}

void load_block(Register& to, const BlockSource& source, i64 first, i64 width) {
    visit_dtype(source.operand.dtype, [&](auto zero) {
        using T = decltype(zero);
        const T* data = reinterpret_cast<const T*>(source.operand.data);
        Computed<T>* block = to.as<Computed<T>>();
        for_each_run(source.dims, first, width, [&](i64 at, i64 from, i64 length, i64 stride) {
            if (stride == 0) {
                std::fill(block + at, block + at + length, held(data[from]));
            } else if (stride == 1) {
                for (i64 i = 0; i < length; ++i) block[at + i] = held(data[from + i]);
            } else {
                for (i64 i = 0; i < length; ++i) block[at + i] = held(data[from + i * stride]);
            }
        });
    });
}

void index_block(Register& to, const ScalarStep& step, i64 start, const Shape& output, i64 first, i64 width) {
    const size_t dim = step.args[0];
    internal_check(dim < output.size(), "pointwise: index along a dim that is not there");
    i64 inner = 1;
    for (size_t d = dim + 1; d < output.size(); ++d) inner *= output[d];
    visit_dtype(step.dtype, [&](auto zero) {
        using T = decltype(zero);
        Computed<T>* block = to.as<Computed<T>>();
        for (i64 i = 0; i < width; ++i) block[i] = held(convert_value<T>(start + (first + i) / inner % output[dim]));
    });
}

void fill_constant(Register& to, const ScalarStep& step) {
    visit_dtype(step.dtype, [&](auto zero) {
        using T = decltype(zero);
        Computed<T>* block = to.as<Computed<T>>();
        std::fill(block, block + block_elements, held(convert_value<T>(step.value)));
    });
}

void store_block(LaneBlock from, const Result& output, i64 first, i64 width) {
    visit_dtype(output.dtype, [&](auto zero) {
        using T = decltype(zero);
        T* data = reinterpret_cast<T*>(output.data) + first;
        const Computed<T>* block = from.as<Computed<T>>();
        for (i64 i = 0; i < width; ++i) data[i] = convert_value<T>(block[i]);
    });
}

} // namespace shard
