#include "executor/kernels/reduce.h"

#include "executor/elements/element.h"
#include "executor/elements/strided.h"
#include "executor/kernels/kernels.h"
#include "executor/kernels/reduction.h"

#include <algorithm>
#include <array>

namespace shard {

namespace {

// The input as [outer..., reduced..., ] loops: kept dims and reduced dims with their strides, neighbours joined.
struct Loops {
    std::vector<CopyDim> kept;    // to: stride in the output, from: in the input
    std::vector<CopyDim> reduced; // from only
};

Loops loops_of(const Shape& shape, const std::vector<int>& dims) {
    const std::vector<i64> strides = row_major_strides(shape);
    Loops loops;
    for (size_t d = 0; d < shape.size(); ++d) {
        const bool gone = std::find(dims.begin(), dims.end(), static_cast<int>(d)) != dims.end();
        std::vector<CopyDim>& list = gone ? loops.reduced : loops.kept;
        if (shape[d] == 1) continue;
        const bool neighbour = d > 0 && !list.empty() && list.back().from == strides[d] * shape[d];
        if (neighbour) {
            list.back().extent *= shape[d];
            list.back().from = strides[d];
        } else {
            list.push_back({shape[d], 0, strides[d]});
        }
    }
    i64 to = 1;
    for (size_t d = loops.kept.size(); d-- > 0;) {
        loops.kept[d].to = to;
        to *= loops.kept[d].extent;
    }
    return loops;
}

constexpr i64 lanes = 16;            // partial sums of a contiguous run
constexpr i64 part_elements = 65536; // of the input, for who helps
constexpr i64 columns = 256;         // elements reduced side by side when the kept dim is the contiguous one

template<typename Op, typename T, typename Acc>
Acc reduce_run(const T* data, i64 count, i64 stride, Acc start) {
    if (stride != 1 || count < 2 * lanes) {
        for (i64 i = 0; i < count; ++i) start = Op::combine(start, convert_value<Acc>(data[i * stride]));
        return start;
    }
    std::array<Acc, lanes> parts;
    for (i64 l = 0; l < lanes; ++l) parts[l] = convert_value<Acc>(data[l]);
    i64 i = lanes;
    for (; i + lanes <= count; i += lanes)
        for (i64 l = 0; l < lanes; ++l) parts[l] = Op::combine(parts[l], convert_value<Acc>(data[i + l]));
    for (; i < count; ++i) start = Op::combine(start, convert_value<Acc>(data[i]));
    for (Acc part : parts) start = Op::combine(start, part);
    return start;
}

template<typename Op, typename T, typename Acc>
Acc reduce_all(const T* data, std::span<const CopyDim> dims, Acc start) {
    if (dims.empty()) return Op::combine(start, convert_value<Acc>(*data));
    if (dims.size() == 1) return reduce_run<Op, T, Acc>(data, dims[0].extent, dims[0].from, start);
    for (i64 i = 0; i < dims[0].extent; ++i)
        start = reduce_all<Op, T, Acc>(data + i * dims[0].from, dims.subspan(1), start);
    return start;
}

// Adds `width` neighbouring columns at once: the reduced dims are outside, the kept one is contiguous.
template<typename Op, typename T, typename Acc>
void reduce_columns(const T* data, std::span<const CopyDim> dims, Acc* sums, i64 width) {
    if (dims.empty()) {
        for (i64 j = 0; j < width; ++j) sums[j] = Op::combine(sums[j], convert_value<Acc>(data[j]));
        return;
    }
    for (i64 i = 0; i < dims[0].extent; ++i)
        reduce_columns<Op, T, Acc>(data + i * dims[0].from, dims.subspan(1), sums, width);
}

template<typename Op, typename T, typename Acc>
void reduce_kept(const T* in, T* out, std::span<const CopyDim> kept, std::span<const CopyDim> reduced, Acc identity) {
    if (kept.empty()) {
        *out = convert_value<T>(reduce_all<Op, T, Acc>(in, reduced, identity));
    } else if (kept.size() == 1 && kept[0].from == 1) {
        std::array<Acc, columns> sums;
        for (i64 first = 0; first < kept[0].extent; first += columns) {
            const i64 width = std::min(columns, kept[0].extent - first);
            std::fill(sums.begin(), sums.begin() + width, identity);
            reduce_columns<Op, T, Acc>(in + first, reduced, sums.data(), width);
            for (i64 j = 0; j < width; ++j) out[first + j] = convert_value<T>(sums[j]);
        }
    } else {
        for (i64 i = 0; i < kept[0].extent; ++i)
            reduce_kept<Op, T, Acc>(in + i * kept[0].from, out + i * kept[0].to, kept.subspan(1), reduced, identity);
    }
}

} // namespace

void run_reduce(const Reduce& kernel, const KernelCall& call) {
    internal_check(call.inputs.size() == 1 && call.inputs[0].dtype == call.output.dtype,
                   "reduce: one operand of the result's type");
    const Loops loops = loops_of(*call.inputs[0].shape, kernel.dims);
    visit_dtype(call.output.dtype, [&](auto zero) {
        using T = decltype(zero);
        visit_reduction(kernel.op, [&](auto op) {
            using Op = decltype(op);
            using Acc = typename Op::template Accumulator<T>;
            const T* const in = reinterpret_cast<const T*>(call.inputs[0].data);
            T* const out = reinterpret_cast<T*>(call.output.data);
            const i64 extent = loops.kept.empty() ? 1 : loops.kept[0].extent;
            const i64 parts =
                std::clamp(element_count(*call.inputs[0].shape) / part_elements, i64{1}, std::max<i64>(1, extent));
            call.share(parts, [&](i64 part) {
                std::vector<CopyDim> kept = loops.kept;
                i64 low = 0;
                if (!kept.empty()) {
                    low = part * extent / parts;
                    kept[0].extent = (part + 1) * extent / parts - low;
                }
                const i64 from = kept.empty() ? 0 : low * kept[0].from, to = kept.empty() ? 0 : low * kept[0].to;
                reduce_kept<Op, T, Acc>(in + from, out + to, kept, loops.reduced, Op::template identity<T>());
            });
        });
    });
}

} // namespace shard
