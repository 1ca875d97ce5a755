#pragma once

#include "executor/devices/device.h"
#include "executor/engine/ranks.h"
#include "executor/run/run.h"

namespace shard {

// When each device ran what, by device, from when the first of them began. Of several processes the first has those of
// all, by its own clock: on one machine they have one, and that of another machine is compared with it over messages, to
// about the time that one takes. nullopt on all if one has ended.
std::optional<std::vector<std::vector<RunSpan>>> gather_spans(std::span<const Device> devices, Ranks* ranks);

} // namespace shard
