// Lookups, running reductions and orders for the interpreter: element by element, from what their documentation says.
#pragma once

#include "planner/graph/op_def.h"
#include "tests/support/arrays.h"

namespace shard {

// nullptr if the op is none of them.
using OrderEvaluate = Array (*)(const std::vector<const Array*>& operands, const Node&, const TensorType& result);
OrderEvaluate find_order_op(std::string_view name);

} // namespace shard
