#include "plans/kernel/lookup.h"

#include <fmt/format.h>

namespace shard {

namespace {

bool is_dim(int dim, const Shape& shape) { return dim >= 0 && static_cast<size_t>(dim) < shape.size(); }

} // namespace

std::string lookup_problem(const Lookup& lookup, const Shape& table, const Shape& indices) {
    if (!is_dim(lookup.axis, table)) return "no such dim of the table";
    std::vector<bool> table_paired(table.size(), false), index_paired(indices.size(), false);
    table_paired[lookup.axis] = true;
    for (const auto& [t, i] : lookup.batch) {
        if (!is_dim(t, table) || !is_dim(i, indices))
            return fmt::format("[{}, {}] is no dim of the table and one of the indices", t, i);
        if (table_paired[t] || index_paired[i])
            return fmt::format("[{}, {}] has a dim that is looked up along, or in another pair", t, i);
        if (table[t] != indices[i])
            return fmt::format("[{}, {}] pairs a dim of size {} with one of size {}", t, i, table[t], indices[i]);
        table_paired[t] = index_paired[i] = true;
    }
    return "";
}

LookupDims lookup_dims(const Lookup& lookup, size_t table_rank, size_t index_rank) {
    LookupDims dims{std::vector<int>(table_rank, -1), std::vector<int>(index_rank, -1)};
    std::vector<bool> is_paired(index_rank, false);
    for (const auto& [t, i] : lookup.batch) is_paired[i] = true;
    int next = 0;
    for (size_t t = 0; t < table_rank; ++t) {
        if (t != static_cast<size_t>(lookup.axis)) {
            dims.table[t] = next++;
            continue;
        }
        for (size_t i = 0; i < index_rank; ++i)
            if (!is_paired[i]) dims.indices[i] = next++;
    }
    for (const auto& [t, i] : lookup.batch) dims.indices[i] = dims.table[t];
    return dims;
}

Shape found_shape(const Lookup& lookup, const Shape& table, const Shape& indices) {
    const LookupDims dims = lookup_dims(lookup, table.size(), indices.size());
    Shape shape(table.size() - 1 + indices.size() - lookup.batch.size());
    for (size_t t = 0; t < table.size(); ++t)
        if (dims.table[t] >= 0) shape[dims.table[t]] = table[t];
    for (size_t i = 0; i < indices.size(); ++i) shape[dims.indices[i]] = indices[i];
    return shape;
}

} // namespace shard
