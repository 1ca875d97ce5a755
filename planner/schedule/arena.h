// Arena offsets: extents that are alive at the same time may not overlap, and the arena should be small.
//
//     place({{100, 0, 2}, {60, 1, 3}, {100, 2, 4}})  ->  {0, 128, 0}      the third reuses the first's bytes
//
// Greedy by size with best fit (Pisarchyk and Lee, 2020): larger extents first, each in the smallest gap that fits
// between the placed extents whose lives it meets. Where that misses the lower bound, the order of births is tried too
// and the better one is kept. Where too many extents meet for the former, as where thousands of outputs are all alive at the
// end, there is the latter alone.
#pragma once

#include "plans/base/base.h"

#include <span>
#include <vector>

namespace shard {

constexpr i64 arena_alignment = 64;

struct Extent {
    i64 bytes = 0;
    i64 begin = 0, end = 0; // alive at the times begin <= t < end
};

std::vector<i64> place(std::span<const Extent> extents); // offsets, multiples of 64
// By births alone, of one time the largest first: in n log n steps.
std::vector<i64> place_by_birth(std::span<const Extent> extents);

// The most bytes alive at one time, each extent rounded up to the alignment: no placement can be smaller.
i64 most_alive(std::span<const Extent> extents);
// The highest end of a placed extent.
i64 placed_end(std::span<const Extent> extents, std::span<const i64> offsets);

// The extents of one arena, each with where its offset is to stand.
class ArenaExtents {
public:
    void add(const Extent& extent, i64& offset);
    // By place(), or another way to do it; returns their highest end.
    i64 place(std::vector<i64> (*places)(std::span<const Extent>));

private:
    std::vector<Extent> extents_;
    std::vector<i64*> offsets_;
};

} // namespace shard
