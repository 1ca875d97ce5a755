#include "exporter/stablehlo/hlo_lookup.h"

#include "exporter/stablehlo/hlo_reduce.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace shard {

namespace {

// How gather and scatter of StableHLO call the dims: those of what is found that are the table's own, and those of
// pairs. The indices' dims stand in what is found in the order that they have, so they are put into it before.
struct LookupText {
    std::vector<i64> index_order;              // of the indices' dims
    std::vector<i64> own;                      // dims of what is found that run along the table alone
    std::vector<i64> table_batch, index_batch; // dims in pairs, the indices' in their new order
    std::vector<i64> sizes;                    // of the slice of the table that an index finds
};

LookupText text_of(const Lookup& lookup, const Shape& table, size_t index_rank) {
    const LookupDims dims = lookup_dims(lookup, table.size(), index_rank);
    LookupText text;
    text.index_order.resize(index_rank);
    std::iota(text.index_order.begin(), text.index_order.end(), i64{0});
    std::sort(text.index_order.begin(), text.index_order.end(), [&dims](i64 a, i64 b) {
        return dims.indices[static_cast<size_t>(a)] < dims.indices[static_cast<size_t>(b)];
    });
    text.sizes = table;
    text.sizes[static_cast<size_t>(lookup.axis)] = 1;
    for (const auto& [t, i] : lookup.batch) {
        text.table_batch.push_back(t);
        text.index_batch.push_back(std::find(text.index_order.begin(), text.index_order.end(), i) -
                                   text.index_order.begin());
        text.sizes[static_cast<size_t>(t)] = 1;
    }
    for (size_t t = 0; t < table.size(); ++t)
        if (dims.table[t] >= 0 &&
            std::find(text.table_batch.begin(), text.table_batch.end(), static_cast<i64>(t)) == text.table_batch.end())
            text.own.push_back(dims.table[t]);
    return text;
}

std::string pairs(std::string_view of_table, std::string_view of_indices, const LookupText& text) {
    if (text.table_batch.empty()) return "";
    return fmt::format(", {} = {}, {} = {}", of_table, hlo_list(text.table_batch), of_indices,
                       hlo_list(text.index_batch));
}

// Indices as rows of the local table.
HloValue local_rows(const HloValue& indices, const Affine& start, i64 size, HloBody& body) {
    HloOps& ops = body.ops();
    const HloValue first = ops.constant(0, indices.dtype, indices.shape),
                   last = ops.constant(static_cast<double>(size - 1), indices.dtype, indices.shape);
    const HloValue clamped = ops.pointwise("stablehlo.clamp", {first, indices, last});
    if (start.is_constant() && start.constant == 0) return clamped;
    const HloValue begin = ops.filled(ops.convert(body.affine(start), indices.dtype), indices.shape);
    return ops.pointwise("stablehlo.subtract", {clamped, begin});
}

} // namespace

HloValue hlo_take(const HloValue& table, const HloValue& indices, const Lookup& lookup, HloOps& ops) {
    const LookupText text = text_of(lookup, table.shape, indices.shape.size());
    const HloValue ordered = ops.transpose(indices, text.index_order);
    const std::string attributes = fmt::format("dimension_numbers = #stablehlo.gather<offset_dims = {}, "
                                               "collapsed_slice_dims = [{}]{}, start_index_map = [{}], "
                                               "index_vector_dim = {}>, slice_sizes = array<i64: {}>",
                                               hlo_list(text.own), lookup.axis,
                                               pairs("operand_batching_dims", "start_indices_batching_dims", text),
                                               lookup.axis, indices.shape.size(), fmt::join(text.sizes, ", "));
    return ops.generic("stablehlo.gather", {table, ordered}, attributes, table.dtype,
                       found_shape(lookup, table.shape, indices.shape));
}

HloValue hlo_gather(const Gather& kernel, const HloValues& inputs, const HloValue& output, HloBody& body) {
    HloOps& ops = body.ops();
    const HloValue &table = inputs[0], &indices = inputs[1];
    const i64 local = table.shape[static_cast<size_t>(kernel.axis)];
    const HloValue rows = local_rows(indices, kernel.start, kernel.size, body);
    const HloValue found = hlo_take(table, rows, kernel.lookup(), ops); // clamps what is not inside
    if (local == kernel.size) return found;
    const HloValue first = ops.constant(0, rows.dtype, rows.shape),
                   end = ops.constant(static_cast<double>(local), rows.dtype, rows.shape);
    const HloValue from = ops.pointwise("stablehlo.compare GE,", {rows, first}, DType::boolean);
    const HloValue inside = ops.pointwise("stablehlo.and", {from, ops.less({rows, end})});
    const std::vector<int> along = lookup_dims(kernel.lookup(), table.shape.size(), indices.shape.size()).indices;
    const HloValue chosen = ops.broadcast(inside, std::vector<i64>(along.begin(), along.end()), output.shape);
    return ops.pointwise("stablehlo.select", {chosen, found, ops.constant(0, output.dtype, output.shape)});
}

HloValue hlo_scatter(const Scatter& kernel, const HloValues& inputs, const HloValue& output, HloBody& body) {
    HloOps& ops = body.ops();
    const HloValue& indices = inputs[0];
    const DType inside = computed_as(output.dtype);
    const HloValue rows = local_rows(indices, kernel.start, kernel.size, body);
    const LookupText text = text_of(kernel.lookup(), output.shape, indices.shape.size());
    // Updates to rows outside are left out.
    const HloValue ordered = ops.transpose(rows, text.index_order);
    const HloValue updates = ops.convert(inputs[1], inside);
    const HloValue init = hlo_neutral(kernel.op, inside, output.shape, ops);
    const std::string attributes = fmt::format(
        "scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = {}, inserted_window_dims = [{}]{}, "
        "scatter_dims_to_operand_dims = [{}], index_vector_dim = {}>",
        hlo_list(text.own), kernel.axis, pairs("input_batching_dims", "scatter_indices_batching_dims", text),
        kernel.axis, indices.shape.size());
    const HloValue result{"", inside, output.shape};
    return ops.convert(
        hlo_with_combiner("stablehlo.scatter", {init, ordered, updates}, attributes, kernel.op, result, ops),
        output.dtype);
}

} // namespace shard
