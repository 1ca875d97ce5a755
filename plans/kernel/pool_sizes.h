// Sizes of reductions over windows (plans/kernel/pool.h): whether operands fit, and what they cost.
#pragma once

#include "plans/kernel/pool.h"
#include "plans/sharding/type.h"

#include <span>
#include <string>

namespace shard {

// "" if operands and result fit each other and the kernel, else what does not.
std::string pool_problem(const ReduceWindows& kernel, std::span<const TensorType> inputs, const TensorType& output);
std::string pool_problem(const SelectWindows& kernel, std::span<const TensorType> inputs, const TensorType& output);

// One for each element that a window meets.
i64 pool_flops(const ReduceWindows& kernel, std::span<const TensorType> inputs, const TensorType& output);
i64 pool_flops(const SelectWindows& kernel, std::span<const TensorType> inputs);

} // namespace shard
