// `plan --fit batch`: the largest value of a number of the model or the layout with which the plan fits the memory of a
// device, or what the policy max_memory_per_device allows. Memory has to grow with the number.
#pragma once

#include "cli/command/command.h"

namespace shard {

// A row for each choice of what is set besides. Exit code 1 if some choice fits with no value.
int run_fit(const Arguments& arguments, Env& env);

} // namespace shard
