#include "planner/seed/seed_value.h"

namespace shard {

void seed_value(Seeds& seeds, ValueId id, Sharding sharding, Decision why) {
    why.value = id;
    for (size_t d = 0; d < sharding.dims.size(); ++d) {
        DimSharding& dim = sharding.dims[d];
        dim.open = dim.axes.empty();
        if (dim.open) continue;
        why.dim = static_cast<int>(d);
        why.axes = dim.axes;
        seeds.log.push_back(why);
    }
    seeds.values[static_cast<size_t>(id)] = std::move(sharding);
}

} // namespace shard
