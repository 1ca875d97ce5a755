#include "exporter/jax/jax_reduce.h"

#include <fmt/format.h>

namespace shard {

PythonText jax_reduce(const Reduce& kernel, const JaxValue& input) {
    const bool truth = input.dtype == DType::boolean;
    std::string_view function = name(kernel.op); // sum, prod, max, min
    if (truth) function = kernel.op == ReduceOp::sum || kernel.op == ReduceOp::max ? "any" : "all";
    const std::vector<i64> dims(kernel.dims.begin(), kernel.dims.end());
    std::vector<PythonText> items = {{input.name}, {fmt::format("axis={}", shape_tuple(dims))}};
    // jnp would make sums and products of whole numbers wider where 64 bits are on.
    if (is_integer(input.dtype) && (kernel.op == ReduceOp::sum || kernel.op == ReduceOp::prod))
        items.push_back({fmt::format("dtype={}", jax_dtype(input.dtype))});
    return bracket(fmt::format("jnp.{}(", function), std::move(items), ")");
}

} // namespace shard
