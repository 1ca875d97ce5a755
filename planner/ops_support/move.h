// Move kernels: boxes of elements copied from operands to a result.
#pragma once

#include "planner/graph/op_def.h"

namespace shard {

// The whole value.
Move copy_kernel(const TensorType& local);
// The same elements in row-major order under another shape.
Move flat_kernel();
// A piece that copies `extent` elements per dim, from the start, without strides.
MovePiece whole_piece(int operand, const Shape& extent);

} // namespace shard
