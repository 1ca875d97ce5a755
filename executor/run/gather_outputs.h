#pragma once

#include "executor/devices/device.h"
#include "executor/engine/ranks.h"
#include "executor/formats/tensor.h"

#include <map>

namespace shard {

// All outputs, on the first rank: the others send it the blocks that they hold first, and of those that somebody else
// holds before them a checksum. E0604 on the first rank, false on all, for the first output of which copies differ.
bool gather_outputs(const Plan& plan, std::span<const Device> devices, Ranks& ranks,
                    std::map<std::string, Tensor>& outputs, Diagnostics& diagnostics);

} // namespace shard
