// `fold: data` of a random op: every device along the mesh axis draws its part of the array under a key of its own, as
// with fold_in(key, axis_index) under shard_map. What that means is fixed by the layout file's mesh alone: the array is
// as many blocks along one dim as the axis is long, block n drawn under fold_in(key, n). So the same values come out
// wherever the array lies, and one device makes them all.
#pragma once

#include "planner/graph/graph.h"
#include "planner/model/layout.h"

namespace shard {

// Sets the blocks of all random ops that fold; false after reporting an axis that is not there or does not divide.
bool fold_by_device(Graph& graph, const Mesh& mesh, MissingAxes missing, Diagnostics& diagnostics);

} // namespace shard
