// What dynamic_slice and dynamic_update_slice share: a window of fixed size whose starts are integer scalars, moved
// inside where it would reach beyond the ends, as in XLA.
#pragma once

#include "planner/graph/op_def.h"

namespace shard {

// The dims that have a start, one for each scalar from operand `first` on: `dim`, or the first dims.
std::vector<i64> window_dims(const Attributes& attributes, size_t operands, size_t first);

// Reports unless there is one scalar start for each dim in `dim`, all different and dims of operand 0.
bool check_window(const InferContext& context, size_t first);

// Where the window begins in every dim; `window` and `whole` are the sizes, and dims without a start begin at 0. Every
// start is read, also that of a window as long as the dim: a kernel's scalars are none of its inputs.
std::vector<Affine> window_start(const LowerContext& context, size_t first, const Shape& window, const Shape& whole);

} // namespace shard
