// Chains of scalar operations, a block of elements at a time.
#pragma once

#include "executor/kernels/kernels.h"

namespace shard {

void run_pointwise(const Pointwise& kernel, const KernelCall& call);

// As one after the other, but block by block: results are of one shape, and of what one writes a block of another reads
// the same block or nothing (executor/devices/pointwise_runs.h).
void run_pointwise_together(std::span<const Pointwise* const> kernels, std::span<const KernelCall> calls);

} // namespace shard
