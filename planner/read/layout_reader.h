// Reads a layout file; nullopt after reporting all that is wrong with it. What names axes and arrays is checked later,
// where they are known.
#pragma once

#include "planner/model/layout.h"

namespace shard {

std::optional<Layout> read_layout(const Sources& sources, int file, Diagnostics& diagnostics);

} // namespace shard
