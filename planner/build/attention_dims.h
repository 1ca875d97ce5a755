// Attention takes (batch, length, heads, head_dim); other libraries hold (batch, heads, length, head_dim). Of the wrong
// order every shape may fit, and the model attends over heads.
#pragma once

#include "planner/graph/graph.h"
#include "plans/diagnostics/diagnostic.h"

namespace shard {

// W0204 for attention whose operands have a name of heads where the length is expected, or of a length where heads are.
// Of a repeated module, the first instance speaks for all.
void warn_of_attention_dims(const Graph& graph, Diagnostics& diagnostics);

} // namespace shard
