// Convolutions and their gradients (plans/kernel/convolve.h).
#pragma once

#include "executor/kernels/kernels.h"

namespace shard {

void run_convolve(const Convolve& kernel, const KernelCall& call);

} // namespace shard
