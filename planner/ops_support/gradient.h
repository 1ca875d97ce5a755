// What the ops' `gradient` functions share. A pointwise op gives one formula per operand: the gradient of that operand
// in the result's shape, from the result's cotangent. What broadcasting repeated is then summed back.
//
//     std::vector<ValueId> gradient(const GradientContext& context) {
//         return pointwise_gradient(context, {[](Chain& chain, const GradientContext& at) {
//             return chain("mul", {at.cotangent, at.output}); // of exp
//         }});
//     }
#pragma once

#include "planner/graph/chain.h"

#include <initializer_list>

namespace shard {

using GradientFormula = ValueId (*)(Chain& chain, const GradientContext& at);
// nullptr: an operand that no gradient flows to.
std::vector<ValueId> pointwise_gradient(const GradientContext& context,
                                        std::initializer_list<GradientFormula> formulas);

// Of max and min: equal operands get half of it each, as in JAX, and a NaN nothing.
std::vector<ValueId> extremum_gradient(const GradientContext& context);
// Of reduce_max and reduce_min: equal shares for the elements that are equal to the result.
std::vector<ValueId> reduce_extremum_gradient(const GradientContext& context);

// The value summed over the dims along which numpy broadcasting would stretch a value of this type to it.
ValueId sum_to(Chain& chain, ValueId value, const TensorType& type);
// Zeros of the value's type.
ValueId zeros_of(Chain& chain, ValueId value);
// A reduction's result, repeated along the dims that were reduced.
ValueId repeat_along(Chain& chain, ValueId reduced, const std::vector<i64>& dims, const TensorType& type);

} // namespace shard
