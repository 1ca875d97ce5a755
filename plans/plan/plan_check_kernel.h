// Kernels of a plan, checked against the types of their operands.
#pragma once

#include "plans/plan/plan_check_types.h"

namespace shard {

// Kernels against the types of their operands. Types must have passed type_problem.
std::string kernel_problem(const AffineScope& scope, const Kernel& kernel, std::span<const TensorType> inputs,
                           const TensorType& output);
std::string generate_problem(const AffineScope& scope, const Generate& generate,
                             const TensorType& output); // `start` may be left out
// Whether an input of a reduction's program, which runs along these dims, has all dims that are reduced, whole.
bool has_reduced_dims(const Reduce& reduce, const std::vector<int>& dims, const Shape& shape);
// The buffers whose one element is added to an offset of the kernel.
std::vector<int> scalars_read(const Kernel& kernel);

} // namespace shard
