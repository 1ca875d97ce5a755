// Contractions by BLAS.
#pragma once

#include "executor/kernels/kernels.h"

namespace shard {

void run_contract(const Contract& kernel, const KernelCall& call);

} // namespace shard
