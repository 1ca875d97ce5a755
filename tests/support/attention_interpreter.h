// Attention and the ops of its gradient for the interpreter: pair by pair, from what their documentation says.
#pragma once

#include "planner/graph/op_def.h"
#include "tests/support/arrays.h"

namespace shard {

// Which operands stand behind those of the part, in this order.
struct AttentionExtras {
    bool bias = false, mask = false, segments = false;
};
AttentionExtras attention_extras(std::string_view op, const std::vector<TensorType>& operands);

// nullptr if the op is none of them.
using AttentionEvaluate = Array (*)(const std::vector<const Array*>& operands, const Node&, const TensorType& result,
                                    const AttentionExtras&);
AttentionEvaluate find_attention_op(std::string_view name);

} // namespace shard
