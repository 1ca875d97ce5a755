// What a kernel needs besides its operands and its result.
#pragma once

#include "plans/kernel/kernel.h"

namespace shard {

// Bytes of scratch that the executor needs to run the kernel on these local types; part of the plan. The formula is
// shared by planner and executor, see plans/kernel/gemm_layout.h for contract.
i64 scratch_bytes(const Kernel& kernel, std::span<const TensorType> inputs, const TensorType& output);

// Whether the sums are kept in f32 until the end.
bool widens_sums(const Scatter& scatter, DType dtype);

// One row of a sort: a word per key and the positions; or, of one key of at most 32 bits, words that hold both.
struct SortScratch {
    bool packed = false;
    i64 bytes = 0;
};
SortScratch sort_scratch(std::span<const TensorType> keys, const Sort& sort);

} // namespace shard
