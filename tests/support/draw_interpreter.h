// What jax.random draws, for the interpreter: element by element, from what its documentation says.
#pragma once

#include "planner/graph/op_def.h"
#include "tests/support/arrays.h"

namespace shard {

// nullptr if the op draws nothing.
using DrawEvaluate = Array (*)(const std::vector<const Array*>& operands, const Node&, const TensorType& result);
DrawEvaluate find_draw_op(std::string_view name);

} // namespace shard
