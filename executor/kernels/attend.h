#pragma once

#include "executor/kernels/kernels.h"

namespace shard {

// By blocks of queries and keys, each a product or two and a pass over its scores (plans/kernel/attend.h).
void run_attend(const Attend& kernel, const KernelCall& call);

} // namespace shard
