#include "executor/kernels/scatter.h"

#include "executor/elements/element.h"
#include "executor/kernels/kernels.h"

#include <algorithm>

namespace shard {

namespace {

// Of every outer index: rows of the updates, in order, added to rows of the sums.
struct Rows {
    i64 outer = 1;
    i64 updates = 1; // rows of the updates for each outer index
    i64 results = 1; // rows of the result for each outer index
    i64 length = 1;  // elements
};

template<typename Index, typename T, typename Sum>
void add_rows(const Scatter& kernel, i64 start, const Rows& rows, const Index* index, const T* updates, Sum* sums) {
    std::fill(sums, sums + rows.outer * rows.results * rows.length, Sum{});
    for (i64 a = 0; a < rows.outer; ++a)
        for (i64 i = 0; i < rows.updates; ++i, updates += rows.length) {
            const i64 row = std::clamp<i64>(static_cast<i64>(index[i]), 0, kernel.size - 1) - start;
            if (row < 0 || row >= rows.results) continue;
            Sum* to = sums + (a * rows.results + row) * rows.length;
            for (i64 e = 0; e < rows.length; ++e) to[e] = static_cast<Sum>(to[e] + convert_value<Sum>(updates[e]));
        }
}

} // namespace

void run_scatter(const Scatter& kernel, const KernelCall& call) {
    internal_check(call.inputs.size() == 2, "scatter takes indices and updates");
    const Operand &indices = call.inputs[0], &updates = call.inputs[1];
    const Shape& shape = *call.output.shape;
    const size_t axis = kernel.axis;
    internal_check(axis < shape.size() && is_integer(indices.dtype) && updates.dtype == call.output.dtype,
                   "scatter: operands do not fit");
    Rows rows;
    for (size_t d = 0; d < shape.size(); ++d)
        (d < axis ? rows.outer : d > axis ? rows.length : rows.results) *= shape[d];
    rows.updates = element_count(*indices.shape);
    internal_check(element_count(*updates.shape) == rows.outer * rows.updates * rows.length,
                   "scatter: updates do not fit");
    const i64 start = evaluate(kernel.start, call.context);

    visit_dtype(indices.dtype, [&](auto whole) {
        using Index = decltype(whole);
        if constexpr (std::is_integral_v<Index>) {
            const Index* index = reinterpret_cast<const Index*>(indices.data);
            visit_dtype(call.output.dtype, [&](auto zero) {
                using T = decltype(zero);
                const T* from = reinterpret_cast<const T*>(updates.data);
                T* to = reinterpret_cast<T*>(call.output.data);
                if constexpr (is_narrow<T>) {
                    const i64 count = element_count(shape);
                    float* sums = reinterpret_cast<float*>(call.scratch.at(0, count * static_cast<i64>(sizeof(float))));
                    add_rows(kernel, start, rows, index, from, sums);
                    std::transform(sums, sums + count, to, [](float sum) { return T(sum); });
                } else {
                    add_rows(kernel, start, rows, index, from, to);
                }
            });
        }
    });
}

} // namespace shard
