// Lookups in tables and what is combined into them. Of a table that is split each device has its own rows: the others
// are out of range, where jnp puts zeros, and leaves out what is given. Dims that a table and its indices share are
// taken away by jax.vmap, one after the other; what is left is a function of its own.
#include "exporter/jax/jax_lookup.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

// Indices as rows of the local table.
std::string rows_text(const Affine& start, i64 size, i64 rows, const JaxValue& indices, const JaxBody& body) {
    if (start.is_constant() && start.constant == 0 && size == rows)
        return fmt::format("jnp.clip({}, 0, {})", indices.name, size - 1);
    return fmt::format("own_rows({}, {}, {}, {})", indices.name, size, body.affine(start), rows);
}

// The number of a dim among those that are left.
i64 number_of(int dim, const std::vector<int>& gone) {
    return dim - std::count_if(gone.begin(), gone.end(), [dim](int other) { return other < dim; });
}

// A shared dim in the table, in the indices and in what is found, as each vmap sees it, the outermost first.
struct Mapped {
    i64 table, indices, found;
};

struct Unshared {
    std::vector<Mapped> maps;
    i64 axis = 0; // of what is left of the table
    Shape table;
};

Unshared without_shared_dims(const Lookup& lookup, const Shape& table, size_t index_rank) {
    const LookupDims dims = lookup_dims(lookup, table.size(), index_rank);
    Unshared left;
    std::vector<int> of_table, of_indices, of_found;
    for (const auto& [t, i] : lookup.batch) {
        const int found = dims.table[static_cast<size_t>(t)];
        left.maps.push_back({number_of(t, of_table), number_of(i, of_indices), number_of(found, of_found)});
        of_table.push_back(t);
        of_indices.push_back(i);
        of_found.push_back(found);
    }
    left.axis = number_of(lookup.axis, of_table);
    for (size_t t = 0; t < table.size(); ++t)
        if (std::find(of_table.begin(), of_table.end(), static_cast<int>(t)) == of_table.end())
            left.table.push_back(table[t]);
    return left;
}

std::string map_text(i64 first, i64 second, i64 result) {
    return fmt::format("@partial(jax.vmap, in_axes=({}, {}), out_axes={})", first, second, result);
}

// Every dim but the axis is a dim of the indices, at the same place.
bool is_along_axis(const Lookup& lookup, size_t table_rank, size_t index_rank) {
    return table_rank == index_rank && lookup.batch.size() + 1 == table_rank &&
           std::all_of(lookup.batch.begin(), lookup.batch.end(),
                       [](const std::pair<int, int>& pair) { return pair.first == pair.second; });
}

PythonText take_text(const std::string& function, const std::string& table, const std::string& rows, i64 axis) {
    return bracket(function, {{table}, {rows}, {fmt::format("axis={}", axis)}, {"mode=\"fill\""}, {"fill_value=0"}},
                   ")");
}

std::string_view method_of(ReduceOp op) {
    switch (op) {
    case ReduceOp::sum:
        return "add";
    case ReduceOp::prod:
        return "multiply";
    case ReduceOp::max:
        return "max";
    case ReduceOp::min:
        return "min";
    }
    internal_error("unknown reduction");
}

// What a place holds that nothing is combined into.
PythonText neutral_text(ReduceOp op, const Shape& shape, DType dtype) {
    const PythonText size = {shape_tuple(shape)}, type = {jax_dtype(dtype)};
    if (op == ReduceOp::sum) return bracket("jnp.zeros(", {size, type}, ")");
    if (op == ReduceOp::prod) return bracket("jnp.ones(", {size, type}, ")");
    const bool max = op == ReduceOp::max;
    std::string number = max ? "-jnp.inf" : "jnp.inf";
    if (is_integer(dtype)) number = fmt::format("jnp.iinfo({}).{}", jax_dtype(dtype), max ? "min" : "max");
    return bracket("jnp.full(", {size, {number}, type}, ")");
}

// Short names: what is made of them stands on one line then.
std::string named(std::string_view stem, const PythonText& value, JaxBody& body) {
    const std::string name = body.fresh(stem);
    body.assign(name, value);
    return name;
}

PythonText combine_text(ReduceOp op, const std::string& into, i64 axis, const std::string& rows,
                        const std::string& updates, const std::string& after) {
    std::string before;
    for (i64 d = 0; d < axis; ++d) before += ":, ";
    return bracket(fmt::format("{}.at[{}{}].{}(", into, before, rows, method_of(op)), {{updates}, {"mode=\"drop\""}},
                   ")" + after);
}

} // namespace

PythonText jax_gather(const Gather& kernel, std::span<const JaxValue> inputs, JaxBody& body) {
    const JaxValue &table = inputs[0], &indices = inputs[1];
    const Lookup lookup = kernel.lookup();
    const i64 local = table.shape[static_cast<size_t>(kernel.axis)];
    const std::string rows = rows_text(kernel.start, kernel.size, local, indices, body);
    if (kernel.batch.empty()) return take_text("jnp.take(", table.name, rows, kernel.axis);
    if (is_along_axis(lookup, table.shape.size(), indices.shape.size()))
        return take_text("jnp.take_along_axis(", table.name, rows, kernel.axis);
    const std::string row = named("rows", {rows}, body);
    const Unshared left = without_shared_dims(lookup, table.shape, indices.shape.size());
    std::vector<std::string> decorators;
    for (const Mapped& map : left.maps) decorators.push_back(map_text(map.table, map.indices, map.found));
    const std::string find = body.function("find", decorators, {"table", "rows"}, [&](JaxBody&) {
        return take_text("jnp.take(", "table", "rows", left.axis);
    });
    return bracket(find + "(", {{table.name}, {row}}, ")");
}

PythonText jax_scatter(const Scatter& kernel, std::span<const JaxValue> inputs, const JaxValue& output, JaxBody& body) {
    const JaxValue &indices = inputs[0], &updates = inputs[1];
    const i64 local = output.shape[static_cast<size_t>(kernel.axis)];
    const DType inside = is_floating(output.dtype) ? computed_as(output.dtype) : output.dtype;
    const std::string after = inside == output.dtype ? "" : fmt::format(".astype({})", jax_dtype(output.dtype));
    const std::string rows = rows_text(kernel.start, kernel.size, local, indices, body);
    if (kernel.batch.empty()) {
        const std::string into = named("table", neutral_text(kernel.op, output.shape, inside), body);
        return combine_text(kernel.op, into, kernel.axis, named("rows", {rows}, body), updates.name, after);
    }
    const std::string row = named("rows", {rows}, body);
    const Unshared left = without_shared_dims(kernel.lookup(), output.shape, indices.shape.size());
    std::vector<std::string> decorators; // what is found is the second operand, the table the result
    for (const Mapped& map : left.maps) decorators.push_back(map_text(map.indices, map.found, map.table));
    const std::string combine = body.function("combine", decorators, {"rows", "updates"}, [&](JaxBody& inner) {
        const std::string into = named("table", neutral_text(kernel.op, left.table, inside), inner);
        return combine_text(kernel.op, into, left.axis, "rows", "updates", after);
    });
    return bracket(combine + "(", {{row}, {updates.name}}, ")");
}

} // namespace shard
