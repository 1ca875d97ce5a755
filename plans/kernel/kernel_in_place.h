// Kernels whose result may be the bytes of an operand.
#pragma once

#include "plans/kernel/kernel.h"

namespace shard {

// True if the kernel reads element i of this input before it writes element i of the output and never again, so both
// may be the same bytes: pointwise, same number and size of elements, no broadcast and no transposition; a scan; or a
// move whose first piece is the whole operand, over which others are written.
bool can_run_in_place(const Kernel& kernel, size_t input, const TensorType& input_type, const TensorType& output);

} // namespace shard
