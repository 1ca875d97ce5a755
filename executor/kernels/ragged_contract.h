#pragma once

#include "executor/kernels/kernels.h"

namespace shard {

// Group by group a product of the rows that the device has of it, which lie one after the other.
void run_ragged_contract(const RaggedContract& kernel, const KernelCall& call);

} // namespace shard
