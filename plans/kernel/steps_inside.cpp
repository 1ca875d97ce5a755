#include "plans/kernel/steps_inside.h"

#include "plans/base/division.h"

#include <algorithm>

namespace shard {

StepRange steps_inside(StepRange range, i64 start, i64 stride, i64 size) {
    if (stride == 0) return start >= 0 && start < size ? range : StepRange{};
    // start + stride * t >= 0 and <= size - 1, as bounds on t
    const i64 first = stride > 0 ? ceil_div(-start, stride) : ceil_div(size - 1 - start, stride);
    const i64 last = stride > 0 ? floor_div(size - 1 - start, stride) : floor_div(-start, stride);
    return {std::max(range.low, first), std::min(range.high, last + 1)};
}

} // namespace shard
