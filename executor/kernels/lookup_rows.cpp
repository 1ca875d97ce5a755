#include "executor/kernels/lookup_rows.h"

namespace shard {

LookupRows lookup_rows(const Lookup& lookup, const Shape& table, const Shape& indices) {
    const LookupDims dims = lookup_dims(lookup, table.size(), indices.size());
    const Shape found = found_shape(lookup, table, indices);
    const std::vector<i64> table_strides = row_major_strides(table), index_strides = row_major_strides(indices);
    std::vector<LookupRows::Dim> all(found.size());
    for (size_t d = 0; d < found.size(); ++d) all[d].extent = found[d];
    for (size_t t = 0; t < table.size(); ++t)
        if (dims.table[t] >= 0) all[dims.table[t]].table = table_strides[t];
    for (size_t i = 0; i < indices.size(); ++i) all[dims.indices[i]].indices = index_strides[i];

    LookupRows rows;
    rows.axis_stride = table_strides[lookup.axis];
    const auto joins = [](const LookupRows::Dim& outer, const LookupRows::Dim& inner) {
        return outer.table == inner.table * inner.extent && outer.indices == inner.indices * inner.extent;
    };
    for (const LookupRows::Dim& dim : all) {
        if (dim.extent == 1) continue;
        if (!rows.dims.empty() && joins(rows.dims.back(), dim))
            rows.dims.back() = {rows.dims.back().extent * dim.extent, dim.table, dim.indices};
        else
            rows.dims.push_back(dim);
    }
    if (!rows.dims.empty() && rows.dims.back().table == 1 && rows.dims.back().indices == 0) {
        rows.row = rows.dims.back().extent;
        rows.dims.pop_back();
    }
    if (rows.dims.empty()) rows.dims.emplace_back();
    return rows;
}

} // namespace shard
