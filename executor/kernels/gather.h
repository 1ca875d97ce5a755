// Rows by index.
#pragma once

#include "executor/kernels/kernels.h"

namespace shard {

void run_gather(const Gather& kernel, const KernelCall& call);

} // namespace shard
