// Lookups in tables and sums into them. Of a table that is split each device has its own rows: the others are out of
// range, where jnp puts zeros, and drops what is added.
#include "exporter/jax/jax_lookup.h"

#include <fmt/format.h>

namespace shard {

namespace {

// Indices as rows of the local table.
std::string rows_text(const Affine& start, i64 size, i64 rows, const JaxValue& indices, const JaxBody& body) {
    if (start.is_constant() && start.constant == 0 && size == rows)
        return fmt::format("jnp.clip({}, 0, {})", indices.name, size - 1);
    return fmt::format("own_rows({}, {}, {}, {})", indices.name, size, body.affine(start), rows);
}

} // namespace

PythonText jax_gather(const Gather& kernel, std::span<const JaxValue> inputs, JaxBody& body) {
    const JaxValue &table = inputs[0], &indices = inputs[1];
    const i64 rows = table.shape[static_cast<size_t>(kernel.axis)];
    return bracket("jnp.take(",
                   {{table.name},
                    {rows_text(kernel.start, kernel.size, rows, indices, body)},
                    {fmt::format("axis={}", kernel.axis)},
                    {"mode=\"fill\""},
                    {"fill_value=0"}},
                   ")");
}

PythonText jax_scatter(const Scatter& kernel, std::span<const JaxValue> inputs, const JaxValue& output, JaxBody& body) {
    const JaxValue &indices = inputs[0], &updates = inputs[1];
    const i64 rows = output.shape[static_cast<size_t>(kernel.axis)];
    const DType sums = is_floating(output.dtype) ? computed_as(output.dtype) : output.dtype;
    const std::string zeros =
        body.part(output, bracket("jnp.zeros(", {{shape_tuple(output.shape)}, {jax_dtype(sums)}}, ")"));
    const std::string row = body.part(indices, {rows_text(kernel.start, kernel.size, rows, indices, body)});
    std::string before;
    for (int d = 0; d < kernel.axis; ++d) before += ":, ";
    return bracket(fmt::format("{}.at[{}{}].add(", zeros, before, row), {{updates.name}, {"mode=\"drop\""}},
                   sums == output.dtype ? ")" : fmt::format(").astype({})", jax_dtype(output.dtype)));
}

} // namespace shard
