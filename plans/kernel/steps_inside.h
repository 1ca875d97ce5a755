// Which steps of a box along a dim lie inside what it reads or writes.
#pragma once

#include "plans/base/base.h"

namespace shard {

struct StepRange {
    i64 low = 0, high = 0; // [low, high)
};

// The steps t of `range` with 0 <= start + stride * t < size.
StepRange steps_inside(StepRange range, i64 start, i64 stride, i64 size);

} // namespace shard
