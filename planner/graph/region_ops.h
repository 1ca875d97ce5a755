// The border of a manual region. What enters is brought into the sharding that the region asks for, and is from there
// on what one device holds of it; what leaves is put together again.
//
//     x (8, 16) --constrain [i | -]--> (8, 16) --to_local--> (2, 16), varying over i      on i = 4
#pragma once

#include "planner/graph/builder.h"

namespace shard {

// The local value. `spec` names axes of the region, one entry a dim; every dim divides by its axes.
ValueId enter_region(Builder& builder, ValueId global, int region, const ShardingSpec& spec);
// The global value of a local one that varies over the axes in `spec` at most, unless the region is unchecked; nullopt
// after reporting that it would be too large.
std::optional<ValueId> leave_region(Builder& builder, ValueId local, int region, const ShardingSpec& spec);
// What a node does that leaves it.
Apply leaving_region(const Graph& graph, int region, const ShardingSpec& spec);

// The spec as a sharding of the global side asks for it: dims open where the mesh has axes that the region is not
// manual over, and the region's other axes kept off.
ShardingSpec border_spec(const Graph& graph, int region, ShardingSpec spec, const Mesh& mesh);

// How a border's global side is sharded where its local side is kept as `inner`: the region's axes, major, and those of
// `inner`. Axes of one device are left out, as everywhere after propagation.
Sharding outer_sharding(const Mesh& mesh, const ShardingSpec& spec, const Sharding& inner);

} // namespace shard
