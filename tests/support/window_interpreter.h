// Convolutions and poolings for the interpreter: window by window, from what their documentation says.
#pragma once

#include "planner/graph/op_def.h"
#include "tests/support/arrays.h"

namespace shard {

// nullptr if the op is none of them.
using WindowEvaluate = Array (*)(const std::vector<const Array*>& operands, const Node&, const TensorType& result);
WindowEvaluate find_window_op(std::string_view name);

} // namespace shard
