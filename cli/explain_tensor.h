// Why a tensor has its sharding, which collectives are for it, and what would make them go.
#pragma once

#include "cli/inputs.h"
#include "cli/paint.h"

namespace shard {

std::string explain_tensor(const Compiled& compiled, const TensorReport& tensor, const Paint& paint);

} // namespace shard
