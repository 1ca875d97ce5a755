// How windows slide along a dim of a convolution or a pooling.
//
// Place k of the window at place o of the result meets place i of the operand where
//     o * stride + k * dilation - low = i * input_dilation
// and nothing where no i is so: before the operand, behind it, and between its elements if input_dilation is more than
// 1. If the window is reversed, its k-th place from the end is meant.
//
//     a kernel of 3 with a border of 1:  {1, 1, 1, 1}: o = 0 reads nothing, i = 0 and i = 1
#pragma once

#include "plans/base/base.h"

namespace shard {

struct Slide {
    i64 stride = 1, low = 0, dilation = 1, input_dilation = 1;
    bool reversed = false;
    bool operator==(const Slide&) const = default;
};

} // namespace shard
