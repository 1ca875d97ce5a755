// Attention and the ops of its gradient for the interpreter: pair by pair, from what their documentation says.
#pragma once

#include "planner/graph/op_def.h"
#include "tests/support/arrays.h"

namespace shard {

// nullptr if the op is none of them.
using AttentionEvaluate = Array (*)(const std::vector<const Array*>& operands, const Node&, const TensorType& result);
AttentionEvaluate find_attention_op(std::string_view name);

} // namespace shard
