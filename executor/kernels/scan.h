// Running reductions.
#pragma once

#include "executor/kernels/kernels.h"

namespace shard {

void run_scan(const Scan& kernel, const KernelCall& call);

} // namespace shard
