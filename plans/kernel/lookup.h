// How the dims of a table, of indices into it and of what is looked up lie to each other: of gather, and of scatter,
// whose table is its result.
//
//     table (8, 50, 16), axis 1, indices (8, 5), batch {{0, 0}}:  found (8, 5, 16)
#pragma once

#include "plans/sharding/type.h"

#include <utility>

namespace shard {

struct Lookup {
    int axis = 0;                           // of the table
    std::vector<std::pair<int, int>> batch; // dims of the table and of the indices that are one dim
};

// The dim of what is found along which each dim of the table and of the indices runs. The table's `axis` runs along
// none:
// -1.
struct LookupDims {
    std::vector<int> table, indices;
};

// What is wrong with it: "" if every dim is one of them and in at most one pair, and the paired have one size.
std::string lookup_problem(const Lookup& lookup, const Shape& table, const Shape& indices);
// The next two are for lookups without a problem.
LookupDims lookup_dims(const Lookup& lookup, size_t table_rank, size_t index_rank);
Shape found_shape(const Lookup& lookup, const Shape& table, const Shape& indices);

} // namespace shard
