// What a kernel needs besides its operands and its result.
#pragma once

#include "plans/kernel/kernel.h"

namespace shard {

// Bytes of scratch that the executor needs to run the kernel on these local types; part of the plan. The formula is
// shared by planner and executor, see plans/kernel/gemm_layout.h for contract.
i64 scratch_bytes(const Kernel& kernel, std::span<const TensorType> inputs, const TensorType& output);

} // namespace shard
