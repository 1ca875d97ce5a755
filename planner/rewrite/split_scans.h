// The `scans` pass: sums and other scans along a dim that is split. Each device scans its own block; the last elements
// of all blocks, which alone are gathered, are scanned too, and what comes before a block is put to all of it.
//
//     y = cumsum x, 4096 elements over 8 devices    as it is, all of x is gathered
//     y.blocks  f32 (8, 512)   x
//     y.within  f32 (8, 512)   cumsum of each block
//     y.ends    f32 (8, 1)     its last element: 8 are gathered
//     y.before  f32 (8, 1)     cumsum of these, one place on, 0 for the first
//     y         f32 (4096)     y.within + y.before
//
// A linear recurrence h[t] = a[t] h[t - 1] + b[t] hands on the product of a block's a, too. (G. Blelloch, "Prefix sums
// and their applications", 1990.)
#pragma once

#include "planner/seed/seed.h"

namespace shard {

struct SplitScan {
    NodeId node = -1;
    i64 blocks = 1;
};
// Scans whose operands and result are split alike along the dim. `values`: the shardings, by ValueId.
std::vector<SplitScan> split_scans(const Graph& graph, std::span<const Sharding> values);

// Writes them by blocks; ids of nodes change, in `seeds` too.
void write_by_blocks(Graph& graph, Seeds& seeds, const std::vector<SplitScan>& scans);

} // namespace shard
