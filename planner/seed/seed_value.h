// A value seeded where the graph is propagated once more.
#pragma once

#include "planner/seed/seed.h"

namespace shard {

// As `sharding` splits it; dims that it leaves whole are open. `why` is logged for each dim that is split.
void seed_value(Seeds& seeds, ValueId id, Sharding sharding, Decision why);

} // namespace shard
