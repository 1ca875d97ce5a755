// What partition added to sizes: the same bounds as check_sizes, and the same codes, of the local graph.
#pragma once

#include "planner/partition/local.h"

namespace shard {

// False after reporting.
bool check_local_sizes(const Local& local, Diagnostics& diagnostics);

} // namespace shard
