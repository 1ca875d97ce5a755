// Pointwise steps behind one another whose results are of one shape. A device does them block by block, all of them
// over a block before the next one: what one step writes is in the caches when another reads it.
#pragma once

#include "executor/devices/program.h"

namespace shard {

// Sets `together` at the first instruction of each such run. Steps join it as long as blocks of one touch nothing that
// other blocks of another do.
void find_pointwise_runs(const Plan& plan, Program& program);

} // namespace shard
