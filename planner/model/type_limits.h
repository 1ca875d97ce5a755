// What a type can hold: how large a value may be, and which numbers its elements can be. Whatever has a type keeps to
// the first, so sizes, offsets, strides and sums of a few of them fit 64 bits wherever they are computed; what the user
// writes keeps to the second, so nothing is rounded to another whole number or to infinity.
#pragma once

#include "plans/sharding/type.h"

namespace shard {

// Eight of it still fit 64 bits.
constexpr i64 most_value_bytes = i64{1} << 60;

// What is wrong with the size of such a value; empty if nothing is.
std::string_view size_problem(DType dtype, const Shape& shape);

// Whole numbers hold no fractions, and what is finite stays finite.
bool can_hold(DType dtype, double number);

// Why a number as written, and as read, cannot be an element of the type, and what to do. Numbers are computed with as
// f64 before they become elements, so whole ones beyond 2^53 are refused where they would become others.
struct ElementProblem {
    std::string message, help;
};
std::optional<ElementProblem> element_problem(DType dtype, std::string_view written, double number);

} // namespace shard
