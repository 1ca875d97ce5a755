// Reads a layout file.
#pragma once

#include "planner/model/layout.h"

namespace shard {

std::optional<Layout> read_layout(const Sources& sources, int file, Diagnostics& diagnostics);

} // namespace shard
