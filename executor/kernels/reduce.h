// Reductions over dims.
#pragma once

#include "executor/kernels/kernels.h"

namespace shard {

void run_reduce(const Reduce& kernel, const KernelCall& call);

} // namespace shard
