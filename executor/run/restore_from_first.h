// Blocks of restored inputs on ranks that do not see the checkpoint: the first one reads them and sends them.
#pragma once

#include "executor/devices/device.h"
#include "executor/run/run.h"

namespace shard {

// On all ranks, after they have written their other inputs: fills what RunOptions::restored_by_first names. A problem on
// the first rank if a file cannot be read any more; the others get zeros then.
bool restore_from_first(const Plan& plan, const RunOptions& options, std::span<Device> devices, std::string& problem);

} // namespace shard
