// global_norm: the root of all squares of several arrays, as optimizers clip by it.
#pragma once

#include "importer/shape/composite.h"

namespace shard {

std::vector<CompositeForm> global_norm_forms();

} // namespace shard
