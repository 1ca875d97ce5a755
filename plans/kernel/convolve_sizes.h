// Sizes of a convolution (plans/kernel/convolve.h): whether its operands fit, what it costs, and what the executor works
// in.
#pragma once

#include "plans/kernel/convolve.h"
#include "plans/kernel/convolve_dims.h"
#include "plans/kernel/slide_reach.h"
#include "plans/sharding/type.h"

#include <span>

namespace shard {

struct ConvolveSizes {
    i64 groups = 1;
    i64 kept = 1, made = 1, summed = 1; // of one group
    std::vector<SlideSizes> windows;
};
// Of operands and a result that fit.
ConvolveSizes convolve_sizes(const Convolve& kernel, std::span<const TensorType> inputs, const TensorType& output);
// "" if they fit each other and the kernel, else what does not.
std::string convolve_problem(const Convolve& kernel, std::span<const TensorType> inputs, const TensorType& output);

// 2 for each product of two elements: windows that reach over a border, or between elements, meet fewer.
i64 convolve_flops(const Convolve& kernel, std::span<const TensorType> inputs, const TensorType& output);

// Blocks of the products of matrices that a convolution is: what the windows meet, the second operand, and the result;
// offsets in bytes. What the windows meet is of 16 rows, or no more than operands and result together, and does not
// grow with them beyond its largest block.
struct ConvolveScratch {
    i64 rows = 1, columns = 1, terms = 1; // of a block: of the result, and of the sum
    i64 met = 0, rhs = 0, result = 0, bytes = 0;
};
ConvolveScratch convolve_scratch(const ConvolveSizes& sizes, DType dtype);

} // namespace shard
