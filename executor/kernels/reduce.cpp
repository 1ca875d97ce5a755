#include "executor/kernels/reduce.h"

#include "executor/elements/element.h"
#include "executor/elements/strided.h"
#include "executor/kernels/kernels.h"
#include "executor/kernels/pointwise_run.h"
#include "executor/kernels/reduction.h"

#include <algorithm>
#include <array>

namespace shard {

namespace {

// What is reduced as loops: kept dims and reduced dims with their strides, neighbours joined.
struct Loops {
    std::vector<CopyDim> kept;    // to: stride in the output, from: in what is reduced
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

constexpr i64 lanes = 16;            // partial results of a contiguous run
constexpr i64 part_elements = 65536; // of what is reduced, for who helps
constexpr i64 part_columns = 256;    // at least, of columns that are reduced side by side

// What is reduced, as it lies in memory.
template<typename T>
class Stored {
public:
    explicit Stored(const std::byte* data) : data_(reinterpret_cast<const T*>(data)) {}
    // Elements [first, first + width), at most block_elements, until the next call.
    const T* at(i64 first, i64) { return data_ + first; }

private:
    const T* data_;
};

// The same, made when it is asked for. Runs of one width that are asked for one behind the other are made together, ever
// more of them; others, as those of a row that fills a block and a part of one, are made alone.
template<typename T>
class MadeBlocks {
public:
    MadeBlocks(const PointwiseRun& run, DType dtype, i64 count) : worker_(run), dtype_(dtype), count_(count) {}

    const T* at(i64 first, i64 width) {
        if (first < begin_ || first + width > end_) {
            const bool goes_on = first == end_ && width == width_;
            const i64 runs = goes_on ? std::min(2 * (end_ - begin_), block_elements) / width : 1;
            begin_ = first;
            width_ = width;
            end_ = std::min(first + runs * width, count_);
            const Result block{dtype_, nullptr, reinterpret_cast<std::byte*>(elements_)};
            store_block(worker_.block(begin_, end_ - begin_), block, 0, end_ - begin_);
        }
        return elements_ + (first - begin_);
    }

private:
    PointwiseRun::Worker worker_;
    DType dtype_;
    i64 count_;
    i64 begin_ = 0, end_ = 0, width_ = 0; // what is held, and the last width that was asked for
    T elements_[block_elements];
};

// Of one element type, over elements [first, ...) of a source, in an order that the shape alone fixes.
template<typename Op, typename T, typename Source>
class Reducer {
public:
    using Acc = typename Op::template Accumulator<T>;

    Reducer(Source& source, std::span<const CopyDim> reduced) : source_(source), reduced_(reduced) {}

    void kept(i64 first, T* out, std::span<const CopyDim> dims) {
        if (dims.empty()) {
            *out = convert_value<T>(all(first, reduced_, Op::template identity<T>()));
        } else if (dims.size() == 1 && dims[0].from == 1) {
            std::array<Acc, block_elements> results;
            for (i64 low = 0; low < dims[0].extent; low += block_elements) {
                const i64 width = std::min(block_elements, dims[0].extent - low);
                std::fill(results.begin(), results.begin() + width, Op::template identity<T>());
                columns(first + low, reduced_, results.data(), width);
                for (i64 j = 0; j < width; ++j) out[low + j] = convert_value<T>(results[j]);
            }
        } else {
            for (i64 i = 0; i < dims[0].extent; ++i)
                kept(first + i * dims[0].from, out + i * dims[0].to, dims.subspan(1));
        }
    }

private:
    // Neighbours: `lanes` of them side by side, then what is left over, then the lanes.
    Acc run(i64 first, i64 count, Acc start) {
        std::array<Acc, lanes> parts;
        parts.fill(Op::template identity<T>());
        const i64 together = count < 2 * lanes ? 0 : count / lanes * lanes;
        for (i64 done = 0; done < count;) {
            const i64 width = std::min(block_elements, count - done);
            const T* const data = source_.at(first + done, width);
            i64 i = 0;
            for (; i < width && done + i < together; i += lanes)
                for (i64 l = 0; l < lanes; ++l) parts[l] = Op::combine(parts[l], convert_value<Acc>(data[i + l]));
            for (; i < width; ++i) start = Op::combine(start, convert_value<Acc>(data[i]));
            done += width;
        }
        if (together > 0)
            for (Acc part : parts) start = Op::combine(start, part);
        return start;
    }

    // The innermost of the dims is contiguous.
    Acc all(i64 first, std::span<const CopyDim> dims, Acc start) {
        if (dims.empty()) return Op::combine(start, convert_value<Acc>(*source_.at(first, 1)));
        if (dims.size() == 1) return run(first, dims[0].extent, start);
        for (i64 i = 0; i < dims[0].extent; ++i) start = all(first + i * dims[0].from, dims.subspan(1), start);
        return start;
    }

    // `width` neighbours at once, each into its own result: the reduced dims are outside.
    void columns(i64 first, std::span<const CopyDim> dims, Acc* results, i64 width) {
        if (dims.empty()) {
            const T* const data = source_.at(first, width);
            for (i64 j = 0; j < width; ++j) results[j] = Op::combine(results[j], convert_value<Acc>(data[j]));
            return;
        }
        for (i64 i = 0; i < dims[0].extent; ++i) columns(first + i * dims[0].from, dims.subspan(1), results, width);
    }

    Source& source_;
    std::span<const CopyDim> reduced_;
};

} // namespace

void run_reduce(const Reduce& kernel, const KernelCall& call) {
    internal_check(kernel.made || (call.inputs.size() == 1 && call.inputs[0].dtype == call.output.dtype),
                   "reduce: one operand of the result's type");
    const Shape& shape = kernel.made ? kernel.made->shape : *call.inputs[0].shape;
    std::optional<PointwiseRun> program;
    if (kernel.made) program.emplace(kernel.made->program, call.inputs, call.output.dtype, shape, call.context);
    const Loops loops = loops_of(shape, kernel.dims);
    const i64 count = element_count(shape), extent = loops.kept.empty() ? 1 : loops.kept[0].extent,
              least = !loops.kept.empty() && loops.kept[0].from == 1 ? part_columns : 1,
              parts = std::clamp(count / part_elements, i64{1}, std::max<i64>(1, extent / least));
    visit_dtype(call.output.dtype, [&](auto zero) {
        using T = decltype(zero);
        visit_reduction(kernel.op, [&](auto op) {
            using Op = decltype(op);
            call.share(parts, [&](i64 part) {
                std::vector<CopyDim> kept = loops.kept;
                i64 low = 0;
                if (!kept.empty()) {
                    low = part * extent / parts;
                    kept[0].extent = (part + 1) * extent / parts - low;
                }
                const i64 from = kept.empty() ? 0 : low * kept[0].from, to = kept.empty() ? 0 : low * kept[0].to;
                const auto reduce = [&](auto source) {
                    Reducer<Op, T, decltype(source)>(source, loops.reduced)
                        .kept(from, reinterpret_cast<T*>(call.output.data) + to, kept);
                };
                if (program)
                    reduce(MadeBlocks<T>(*program, call.output.dtype, count));
                else
                    reduce(Stored<T>(call.inputs[0].data));
            });
        });
    });
}

} // namespace shard
