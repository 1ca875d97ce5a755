// Where a sequence of numbers repeats: the longest part in which what stands at i stands at i + period again.
//
//     5 1 2 3 1 2 3 1 2 9     begins at 1, ends before 9, period 3
#pragma once

#include "plans/base/base.h"

#include <optional>
#include <vector>

namespace shard {

struct RepeatedRun {
    size_t begin = 0, end = 0, period = 0;
    size_t saved() const { return end - begin - period; } // if it is written once
};

// The one of which most is saved, and of those the one of the shortest period; nullopt if nothing stands twice in a row.
std::optional<RepeatedRun> longest_run(const std::vector<int>& sequence);

} // namespace shard
