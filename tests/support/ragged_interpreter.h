// Contractions of rows in groups for the interpreter, from what their documentation says.
#pragma once

#include "planner/graph/op_def.h"
#include "tests/support/arrays.h"

namespace shard {

// nullptr if the op is none of them.
using RaggedEvaluate = Array (*)(const std::vector<const Array*>& operands, const Node&, const TensorType& result);
RaggedEvaluate find_ragged_op(std::string_view name);

} // namespace shard
