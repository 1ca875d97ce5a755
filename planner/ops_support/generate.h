// What constant and iota share: ops without operands, whose result has the attributes `shape`, `axes` and `dtype`.
#pragma once

#include "planner/graph/op_def.h"

namespace shard {

// The attribute, else `fallback`.
std::optional<DType> generated_dtype(const InferContext& context, DType fallback);
// Of the shape and logical names that the attributes say; a scalar without.
TensorType generated_type(const InferContext& context, DType dtype);
// Every dim is free: a device makes its own part.
IndexRule rule_generated(std::span<const TensorType> operands, std::span<const TensorType> results, const Attributes&);
// The local part of what `source` says of the whole.
Kernel generate(const LowerContext& context, std::variant<Fill, Literal, Iota, Random> source);

} // namespace shard
