// What ops draw at random.
#pragma once

#include "planner/graph/op_def.h"

namespace shard {

// Whether it draws: attention does where it drops weights.
bool draws(const OpDef& op, const Attributes& attributes);
// The shape of what it draws: its result's, or of attention its weights', (batch, heads, queries, keys).
Shape drawn_shape(const OpDef& op, std::span<const TensorType> operands, const TensorType& result);

} // namespace shard
