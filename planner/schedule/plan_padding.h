// Which inputs and outputs of a plan are padded: the border fills and crops them.
#pragma once

#include "planner/rewrite/pad_uneven.h"
#include "plans/plan/plan.h"

namespace shard {

// A plan's inputs and outputs are those of the graph, in its order.
void say_what_is_real(Plan& plan, const Graph& graph, const Padding& padding);

} // namespace shard
