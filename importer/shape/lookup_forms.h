// Lookups as jnp.take and take_along_axis write them: an index outside of the table gives NaN. The model's gather takes
// the end there, so it is the same wherever the program's result is a number.
#pragma once

#include "importer/shape/composite.h"

namespace shard {

std::vector<CompositeForm> lookup_forms();

} // namespace shard
