// What a type can hold: how large a value may be, and which numbers its elements can be. Whatever has a type keeps to
// the first, so sizes, offsets, strides and sums of a few of them fit 64 bits wherever they are computed; what the user
// writes keeps to the second, so nothing is rounded to another whole number or to infinity.
#pragma once

#include "plans/sharding/type.h"

namespace shard {

constexpr i64 most_value_bytes = i64{1} << 60;

// What is wrong with the size of such a value; empty if nothing is.
std::string_view size_problem(DType dtype, const Shape& shape);

// Whole numbers hold no fractions, and what is finite stays finite.
bool can_hold(DType dtype, double number);

} // namespace shard
