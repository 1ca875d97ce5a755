// Tensors of numbers, and back.
#pragma once

#include "executor/formats/tensor.h"

#include <functional>

namespace shard {

// f(flat index), in order, as the type has it.
Tensor make_tensor(DType dtype, Shape shape, const std::function<double(i64)>& f);
std::vector<double> values(const Tensor& tensor);

} // namespace shard
