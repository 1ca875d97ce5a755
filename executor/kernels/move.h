// Copies of boxes: slices, transposes, pads, concatenations.
#pragma once

#include "executor/kernels/kernels.h"

namespace shard {

void run_move(const Move& kernel, const KernelCall& call);

// Every element becomes `value`, converted to the type.
void fill_value(const Result& output, double value);

} // namespace shard
