// Positions of elements in order.
#pragma once

#include "executor/kernels/kernels.h"

namespace shard {

void run_sort(const Sort& kernel, const KernelCall& call);

} // namespace shard
