// layer_norm and rms_norm, with their scale and bias.
#pragma once

#include "importer/shape/composite.h"

namespace shard {

std::vector<CompositeForm> norm_forms();

} // namespace shard
