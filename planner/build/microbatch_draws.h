// Draws that a computed key makes alike in all microbatches (planner/ops_support/draw.h): a key that is written is
// another in each of them.
#pragma once

#include "planner/graph/builder.h"

namespace shard {

// W0205 for each entry of the forward pass, inside the loop over microbatches, that draws by a computed key which does
// not depend on the microbatch.
void warn_of_draws_alike(Builder& builder);

} // namespace shard
