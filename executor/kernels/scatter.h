// Rows added up by index.
#pragma once

#include "executor/kernels/kernels.h"

namespace shard {

void run_scatter(const Scatter& kernel, const KernelCall& call);

} // namespace shard
