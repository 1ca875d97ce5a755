// Runs one kernel on host tensors.
#pragma once

#include "executor/formats/tensor.h"
#include "plans/kernel/kernel.h"

namespace shard {

// Scratch is as large as a plan would make it, and no larger.
std::vector<double> run_alone(const Kernel& kernel, const std::vector<Tensor>& inputs, DType dtype, const Shape& shape,
                              const AffineContext& context = {});

} // namespace shard
