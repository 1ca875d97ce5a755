#include "executor/kernels/scatter.h"

#include "executor/elements/element.h"
#include "executor/kernels/kernels.h"
#include "executor/kernels/lookup_rows.h"
#include "executor/kernels/reduction.h"
#include "plans/kernel/kernel_scratch.h"

#include <algorithm>

namespace shard {

namespace {

// What the indices and the result say of every update.
template<typename Index>
struct Rows {
    LookupRows loops;
    const Index* index;
    i64 size, start, held; // of the indexed dim: global, first one and number of those here
};

template<typename Op, typename Index, typename T, typename Kept>
void combine_rows(const Rows<Index>& rows, const T* updates, std::span<Kept> result) {
    using Value = Computed<T>;
    std::fill(result.begin(), result.end(), convert_value<Kept>(Op::template identity<T>()));
    for_each_row(rows.loops, [&](i64 to, i64 at) {
        const T* from = updates;
        updates += rows.loops.row;
        const i64 row = clamped(rows.index[at], rows.size) - rows.start;
        if (row < 0 || row >= rows.held) return;
        Kept* kept = result.data() + to + row * rows.loops.axis_stride;
        for (i64 e = 0; e < rows.loops.row; ++e)
            kept[e] = convert_value<Kept>(Op::combine(convert_value<Value>(kept[e]), convert_value<Value>(from[e])));
    });
}

} // namespace

void run_scatter(const Scatter& kernel, const KernelCall& call) {
    internal_check(call.inputs.size() == 2, "scatter takes indices and updates");
    const Operand &indices = call.inputs[0], &updates = call.inputs[1];
    const Shape& shape = *call.output.shape;
    internal_check(is_integer(indices.dtype) && updates.dtype == call.output.dtype &&
                       lookup_problem(kernel.lookup(), shape, *indices.shape).empty(),
                   "scatter: operands do not fit");
    internal_check(found_shape(kernel.lookup(), shape, *indices.shape) == *updates.shape,
                   "scatter: updates do not fit");
    const size_t count = static_cast<size_t>(element_count(shape));
    const i64 start = evaluate(kernel.start, call.context), held = shape[kernel.axis];

    visit_dtype(indices.dtype, [&](auto whole) {
        using Index = decltype(whole);
        if constexpr (!is_float_element<Index>) {
            const Rows<Index> rows = {lookup_rows(kernel.lookup(), shape, *indices.shape),
                                      reinterpret_cast<const Index*>(indices.data), kernel.size, start, held};
            visit_dtype(call.output.dtype, [&](auto zero) {
                using T = decltype(zero);
                const T* from = reinterpret_cast<const T*>(updates.data);
                const std::span<T> to(reinterpret_cast<T*>(call.output.data), count);
                visit_reduction(kernel.op, [&](auto op) {
                    using Op = decltype(op);
                    if (!widens_sums(kernel, call.output.dtype)) return combine_rows<Op>(rows, from, to);
                    using Wide = Computed<T>;
                    const i64 bytes = static_cast<i64>(count * sizeof(Wide));
                    const std::span<Wide> sums(reinterpret_cast<Wide*>(call.scratch.at(0, bytes)), count);
                    combine_rows<Op>(rows, from, sums);
                    std::transform(sums.begin(), sums.end(), to.begin(),
                                   [](Wide sum) { return convert_value<T>(sum); });
                });
            });
        }
    });
}

} // namespace shard
