// One scalar operation over a block.
#pragma once

#include "executor/kernels/pointwise_blocks.h"

namespace shard {

// One instruction that has operands. `type` is that of the first operand, `result` the step's own.
void scalar_block(ScalarOp op, DType type, DType result, Register& to, const LaneBlock args[3], i64 width);

} // namespace shard
