// Numbers that are a little off, to see what becomes of it.
#pragma once

#include "plans/plan/plan.h"

namespace shard {

// Every float that a run begins with or makes from nothing is off by a share of itself, up or down as the seed has it.
// For plans of one device.
struct Nudge {
    double share = 0;
    unsigned seed = 1;
};

// `data` is all of the buffer.
void nudge_values(const Nudge& nudge, const Buffer& buffer, std::byte* data);

} // namespace shard
