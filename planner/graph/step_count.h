// The count of the steps made so far: an i32 state that belongs to no parameter. The optimizer's bias corrections, the
// learning rate's schedule and dropout's keys read the same one.
#pragma once

#include "planner/graph/builder.h"

namespace shard {

std::optional<ValueId> find_step_count(const Graph& graph); // nullopt: nothing has read it
ValueId step_count(Builder& builder);                       // added if nothing has read it yet

} // namespace shard
