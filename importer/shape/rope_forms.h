// rope, as models turn queries and keys: in halves, in neighbouring pairs, or as x * cos + rotate_half(x) * sin.
#pragma once

#include "importer/shape/composite.h"

namespace shard {

std::vector<CompositeForm> rope_forms();

} // namespace shard
