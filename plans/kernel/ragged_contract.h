// A contraction whose rows lie in groups, each with a matrix of its own, as tokens sorted by expert.
//
// `sizes` (batch..., all groups) says how many rows each group has, one group after the other; a negative number is
// none. Rows behind all groups belong to none. The matrices may have the last few of the batch dims, `b` here, which are
// then one dim with those of the rows; `o` are the others, for which they are the same.
//
//     rows    lhs (o, b, m, k), rhs (b, g, k, n) or, transposed, (b, g, n, k):  out (o, b, m, n)
//             out[o, b, m] = lhs[o, b, m] * rhs[b, group of m], zeros where m has none here
//     groups  lhs (o, b, m, k), rhs (o, b, m, n):  out (b, g, k, n)
//             out[b, g] = sum over o and the rows m of g of lhs[o, b, m] (outer) rhs[o, b, m]
//
// A device has the rows from `row` on, and the groups from `group` on; `sizes` speaks of all. Operands of a narrow type
// are summed up in f32.
#pragma once

#include "plans/sharding/affine.h"
#include "plans/sharding/type.h"

#include <span>

namespace shard {

enum class RaggedPart { rows, groups };
std::string_view name(RaggedPart part);
std::optional<RaggedPart> parse_ragged_part(std::string_view text);

struct RaggedContract {
    RaggedPart part = RaggedPart::rows;
    bool transposed = false; // of rows
    Affine row = {}, group = {};
    bool operator==(const RaggedContract&) const = default;
};

struct RaggedSizes {
    i64 outer = 1, batch = 1; // o and b, all their dims together
    i64 rows = 1, k = 1, n = 1;
    i64 groups = 1, all_groups = 1; // here, and in all
};
// Of operands and a result that fit.
RaggedSizes ragged_sizes(const RaggedContract& kernel, std::span<const TensorType> inputs, const TensorType& output);
// "" if they fit each other and the kernel, else what does not.
std::string ragged_problem(const RaggedContract& kernel, std::span<const TensorType> inputs, const TensorType& output);

// 2 for each product of two elements. Which rows are of groups that are here is known in the run alone: as many as there
// would be if all groups had as many.
i64 ragged_flops(const RaggedSizes& sizes);

// Blocks of operands of a narrow type as f32, and of what becomes a narrow result; offsets in bytes.
struct RaggedScratch {
    i64 rows = 1; // of a block
    i64 lhs = 0, rhs = 0, result = 0, bytes = 0;
};
RaggedScratch ragged_scratch(RaggedPart part, const RaggedSizes& sizes, DType operands, DType result);

} // namespace shard
