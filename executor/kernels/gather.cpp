#include "executor/kernels/gather.h"

#include "executor/elements/element.h"
#include "executor/kernels/kernels.h"
#include "executor/kernels/lookup_rows.h"

#include <algorithm>
#include <cstring>

namespace shard {

void run_gather(const Gather& kernel, const KernelCall& call) {
    internal_check(call.inputs.size() == 2, "gather takes a table and indices");
    const Operand &table = call.inputs[0], &indices = call.inputs[1];
    internal_check(is_integer(indices.dtype) && lookup_problem(kernel.lookup(), *table.shape, *indices.shape).empty(),
                   "gather: axis or indices do not fit");
    internal_check(found_shape(kernel.lookup(), *table.shape, *indices.shape) == *call.output.shape,
                   "gather: result does not fit");
    const LookupRows loops = lookup_rows(kernel.lookup(), *table.shape, *indices.shape);
    const i64 bytes = byte_size(table.dtype), rows = (*table.shape)[kernel.axis];
    const i64 start = evaluate(kernel.start, call.context);
    const size_t row_bytes = static_cast<size_t>(loops.row * bytes);

    visit_dtype(indices.dtype, [&](auto zero) {
        using T = decltype(zero);
        if constexpr (!is_float_element<T>) {
            const T* index = reinterpret_cast<const T*>(indices.data);
            std::byte* to = call.output.data;
            for_each_row(loops, [&](i64 from, i64 at) {
                const i64 row = clamped(index[at], kernel.size) - start;
                if (row >= 0 && row < rows)
                    std::memcpy(to, table.data + (from + row * loops.axis_stride) * bytes, row_bytes);
                else
                    std::memset(to, 0, row_bytes);
                to += row_bytes;
            });
        }
    });
}

} // namespace shard
