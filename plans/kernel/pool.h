// Reductions over windows that slide along every dim (plans/kernel/slide.h), and where a maximum came from.
#pragma once

#include "plans/kernel/slide.h"
#include "plans/sharding/sharding.h"

#include <vector>

namespace shard {

// out[o...] = what `op` makes of the elements that the window at o meets; what it begins with where it meets none. One
// entry for each dim. Sums and products of a narrow type are made in f32.
struct ReduceWindows {
    ReduceOp op = ReduceOp::sum;
    std::vector<i64> window;
    std::vector<Slide> slides;
    bool operator==(const ReduceWindows&) const = default;
};

// The gradient of the largest (or smallest) elements of windows: inputs {x, given}; out[i...] is the sum of given[o...]
// over the windows o of x in which the element of x at i + start is the first of the largest: walked through row by
// row, an element takes the place of the one before it unless that is at least as large. Elements of x lie side by
// side: input_dilation is 1.
struct SelectWindows {
    bool smallest = false;
    std::vector<i64> window;
    std::vector<Slide> slides;
    std::vector<i64> start;
    bool operator==(const SelectWindows&) const = default;
};

} // namespace shard
