// What convolutions and poolings write of windows that slide along dims (plans/kernel/slide.h): one number for all of
// these dims, or one for each.
//
//     {..., strides: 2, padding: same}        {..., low: [1, 0], high: [1, 0], dilation: 2}
#pragma once

#include "planner/graph/op_def.h"
#include "plans/kernel/slide_reach.h"

namespace shard {

// strides, padding, low, high, dilation and input_dilation.
std::vector<AttributeDef> slide_attributes();

struct Slides {
    std::vector<Slide> slides;
    std::vector<SlideSizes> sizes;
    std::vector<i64> high;
};
// Along dims of operands and windows of these sizes; E0226 if the arguments do not fit them.
std::optional<Slides> check_slides(const InferContext& context, std::span<const i64> inputs,
                                   std::span<const i64> windows);
// The same of arguments that fit.
Slides slides_of(const Attributes& attributes, std::span<const i64> inputs, std::span<const i64> windows);
// Writes all of them out: `padding` becomes `low` and `high`.
void write_slides(const Slides& slides, Attributes& attributes);

// What is to be added along a dim so that a window of this size has a place for every stride-th element, as much before
// as behind it.
struct Border {
    i64 low = 0, high = 0;
};
Border same_border(i64 input, i64 covered, i64 stride);

} // namespace shard
