// The loop that gather and scatter share: over the rows of what is found, in order, with where the table and the
// indices stand for each.
#pragma once

#include "executor/elements/element.h"
#include "plans/kernel/lookup.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace shard {

struct LookupRows {
    struct Dim {
        i64 extent = 1, table = 0, indices = 0; // strides in elements
    };
    std::vector<Dim> dims; // of what is found, without those of a row; at least one
    i64 row = 1;           // elements that lie together in the table and in what is found
    i64 axis_stride = 1;   // of the table's indexed dim
};

// By the types that the kernel works on.
LookupRows lookup_rows(const Lookup& lookup, const Shape& table, const Shape& indices);

// An index of any type of whole numbers, in [0, size).
template<typename Index>
i64 clamped(Index index, i64 size) {
    if constexpr (std::is_same_v<Index, std::uint64_t>)
        return static_cast<i64>(std::min(index, static_cast<std::uint64_t>(size) - 1));
    else
        return std::clamp<i64>(convert_value<i64>(index), 0, size - 1);
}

// visit(offset in the table, without the indexed dim's; offset in the indices), for every row in order.
template<typename Visit>
void for_each_row(const LookupRows& rows, const Visit& visit, size_t d = 0, i64 table = 0, i64 indices = 0) {
    const LookupRows::Dim& dim = rows.dims[d];
    for (i64 n = 0; n < dim.extent; ++n, table += dim.table, indices += dim.indices)
        if (d + 1 == rows.dims.size())
            visit(table, indices);
        else
            for_each_row(rows, visit, d + 1, table, indices);
}

} // namespace shard
