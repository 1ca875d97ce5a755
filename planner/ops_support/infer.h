// What the ops' `infer` functions share: checks that report in one voice, and dims by attribute.
#pragma once

#include "planner/graph/op_def.h"

namespace shard {

using InferResult = std::optional<std::vector<TensorType>>;

// E0224 unless operands[first], operands[first + 1], ... have one dtype.
bool check_same_dtype(const InferContext& context, size_t first = 0);
// E0224 unless operand n is of the wanted kind; `wanted` is for the message: "a floating-point type".
bool check_dtype(const InferContext& context, size_t n, bool (*is_wanted)(DType), std::string_view wanted);
bool is_numeric(DType dtype); // floating-point or integer
bool is_boolean(DType dtype);

// numpy broadcasting: aligned at the last dim, a size of 1 stretches. E0223 if the shapes do not fit.
std::optional<Shape> broadcast_shape(const InferContext& context);

// "x (8, 16)", for messages.
std::string operand_text(const InferContext& context, size_t n);

// A result without logical names; Builder::emit derives them.
TensorType make_type(DType dtype, Shape shape, std::vector<std::string> logical = {});

// The dims an op works on, written `dims`, `dim` or `axes`; `fallback` if none was written. Sorted.
std::vector<i64> dims_or(const Attributes& attributes, std::vector<i64> fallback);
std::vector<i64> dims_or_all(const Attributes& attributes, int rank);
std::vector<i64> dims_or_last(const Attributes& attributes, int rank);
// The one dim an op works on, written `dim`.
i64 dim_attribute(const Attributes& attributes);

// E0226 unless an element of this type can be the number (planner/model/type_limits.h).
bool check_fits(const InferContext& context, double value, DType dtype);

} // namespace shard
