// jax.nn.relu, a function by itself in the programs of JAX. It is max(x, 0), but its gradient at 0 is 0, and that of max is
// half of what comes: programs have no more of it than the name.
#pragma once

#include "importer/model/program_walk.h"

namespace shard {

// relu of the argument; nullopt: the function is another.
std::optional<std::vector<DraftId>> relu_in_place_of(ProgramWalk& walk, const MlirFunction& function,
                                                     const std::vector<DraftId>& arguments);

} // namespace shard
