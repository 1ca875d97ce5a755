// What a gather or scatter of StableHLO looks up, as a lookup along one dim of a table.
//
//     x[i, j]        coordinates along two dims are one along both, put together: x' = x as [8 * 4, ...], i * 4 + j
//     x[i : i + 3]   a window is a row for each of its places: the indices i, i + 1 and i + 2
#pragma once

#include "importer/model/op_context.h"
#include "plans/kernel/lookup.h"

namespace shard {

// The numbers of dims, by which StableHLO says what is looked up; a gather and a scatter call them differently.
struct LookupNumbers {
    std::vector<i64> window; // dims of what is found that come from the table
    std::vector<i64> dropped, batch, index_batch, map;
    i64 vector_dim = 0;
    Shape sizes; // of a window, along each dim of the table
};

// Where windows begin in the table: for each index its coordinates, along some dims of the table. Dims of the table
// that count along a dim of the indices, as the first one of x[arange(8), i] does, are dims of the batch.
struct LookupStarts {
    DType dtype = DType::i32;
    Shape shape; // of the indices without the dim along which an index has its coordinates
    std::vector<i64> dims;
    std::vector<DraftId> coordinates;                     // of that shape
    std::vector<i64> window, dropped, batch, index_batch; // as above, but by dims of `shape`
    Shape sizes;
};

// nullopt, with an error, if the numbers do not go together.
std::optional<LookupStarts> lookup_starts(OpContext& context, const LookupNumbers& numbers, const Shape& table,
                                          DraftId indices);

struct LookupForm {
    Lookup lookup;
    std::vector<i64> order; // of the table's dims, where some are put together; empty where none are
    Shape table;            // in that order, with those put together
    DraftId indices = -1;   // without the dim along which an index has its coordinates
    DraftId inside = -1;    // whether an index is in the table, for each
    std::vector<i64> found; // of each dim of StableHLO's order, the dim of the model's
    std::string arguments;  // ", dim: 0, batch: [[0, 0]]"

    DraftId table_of(Draft& draft, DraftId value) const;                           // as the lookup has it
    DraftId whole_of(Draft& draft, DraftId value, const DraftType& written) const; // the other way round
};

// What windows that reach beyond the table do: a gather moves them into it, a scatter leaves them out.
enum class LookupUse { gather, scatter };

// nullopt, with an error, if it is no such lookup. `found` is the shape of what is found.
std::optional<LookupForm> lookup_form(OpContext& context, const LookupStarts& starts, const Shape& table,
                                      const Shape& found, LookupUse use);

// Whether whole windows of a scatter are in the table, of the shape of all indices; known where it is always so.
DraftId all_inside(Draft& draft, const LookupStarts& starts, const Shape& table);

std::vector<i64> dims_listed(const MlirAttribute& list, std::string_view key); // none if it has no such key
bool holds_dim(const std::vector<i64>& dims, i64 dim);

} // namespace shard
