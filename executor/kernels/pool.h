// Reductions over windows, and the gradient of those that pick an element (plans/kernel/pool.h).
#pragma once

#include "executor/kernels/kernels.h"

namespace shard {

void run_reduce_windows(const ReduceWindows& kernel, const KernelCall& call);
void run_select_windows(const SelectWindows& kernel, const KernelCall& call);

} // namespace shard
