// What constant and iota share: ops without operands, whose result has the attributes `shape`, `axes` and `dtype`.
#pragma once

#include "planner/graph/op_def.h"

namespace shard {

std::optional<DType> generated_dtype(const InferContext& context, DType fallback);
TensorType generated_type(const InferContext& context, DType dtype);
// Every dim is free: a device makes its own part.
IndexRule rule_generated(std::span<const TensorType> operands, std::span<const TensorType> results, const Attributes&);
Kernel generate(const LowerContext& context, std::variant<Fill, Literal, Iota, Random> source);

} // namespace shard
