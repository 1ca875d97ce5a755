// What an op conv and its gradient know of a convolution's arguments.
#pragma once

#include "planner/graph/op_def.h"
#include "planner/ops_support/sliding.h"
#include "plans/kernel/convolve_dims.h"

namespace shard {

// Of operands that fit: the dims with what groups there are, and windows along them.
struct Convolution {
    ConvolveDims dims;
    i64 groups = 1;
    Slides slides;
};

// E0226 or E0223 if the arguments or operands do not fit.
std::optional<Convolution> check_convolution(const InferContext& context);
Convolution convolution_of(std::span<const TensorType> operands, const Attributes& attributes);
TensorType convolution_type(const Convolution& convolution, std::span<const TensorType> operands);

// nhwi,hwio->nhwo and its like, for operands of this rank.
std::string usual_convolve_dims(size_t rank);
// With the groups in the dims that i and o are by `usual_convolve_dims`: of what is summed in the first operand, and of
// what is made. Unchanged if there is one group, or the dims have groups already.
ConvolveDims with_groups(ConvolveDims dims, i64 groups);

// How a window dim splits (FactorKind): along places of the result, along places of the window, or, where each place
// reads what no other does, without a border.
enum class WindowSplit { places, pointwise, terms, plain_terms };
WindowSplit window_split(const Slide& slide, const SlideSizes& sizes);

} // namespace shard
