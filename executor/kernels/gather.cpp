#include "executor/kernels/gather.h"

#include "executor/elements/element.h"
#include "executor/kernels/kernels.h"

#include <algorithm>
#include <cstring>

namespace shard {

void run_gather(const Gather& kernel, const KernelCall& call) {
    internal_check(call.inputs.size() == 2, "gather takes a table and indices");
    const Operand &table = call.inputs[0], &indices = call.inputs[1];
    const size_t axis = kernel.axis;
    const Shape& shape = *table.shape;
    internal_check(axis < shape.size() && is_integer(indices.dtype), "gather: axis or indices do not fit");
    const i64 rows = shape[axis], count = element_count(*indices.shape);
    i64 outer = 1;
    for (size_t d = 0; d < axis; ++d) outer *= shape[d];
    const i64 row_bytes = rows == 0 || outer == 0 ? 0 : table.type().bytes() / (outer * rows);
    internal_check(call.output.bytes() == outer * count * row_bytes, "gather: result does not fit");
    const i64 start = evaluate(kernel.start, call.context);

    visit_dtype(indices.dtype, [&](auto zero) {
        using T = decltype(zero);
        if constexpr (std::is_integral_v<T>) {
            const T* index = reinterpret_cast<const T*>(indices.data);
            std::byte* to = call.output.data;
            for (i64 a = 0; a < outer; ++a)
                for (i64 i = 0; i < count; ++i, to += row_bytes) {
                    const i64 row = std::clamp<i64>(static_cast<i64>(index[i]), 0, kernel.size - 1) - start;
                    if (row >= 0 && row < rows) {
                        std::memcpy(to, table.data + (a * rows + row) * row_bytes, row_bytes);
                    } else {
                        std::memset(to, 0, row_bytes);
                    }
                }
        }
    });
}

} // namespace shard
