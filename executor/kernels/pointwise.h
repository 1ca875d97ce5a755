// Chains of scalar operations, a block of elements at a time.
#pragma once

#include "executor/kernels/kernels.h"

namespace shard {

void run_pointwise(const Pointwise& kernel, const KernelCall& call);

} // namespace shard
