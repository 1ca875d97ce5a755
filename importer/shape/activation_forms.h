// gelu, silu, softplus, logaddexp, one_hot.
#pragma once

#include "importer/shape/composite.h"

namespace shard {

std::vector<CompositeForm> activation_forms();

} // namespace shard
