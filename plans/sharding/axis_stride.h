// Where the parts of a mesh axis lie: a reference covers [pre, pre * size) of it, in multiples of which it is split.
#pragma once

#include "plans/sharding/mesh.h"

namespace shard {

// The `pre` of what follows it.
inline i64 end_of(const AxisRef& ref) { return ref.pre * ref.size; }
// The coordinates of the whole axis that one step along the sub-axis goes.
inline i64 stride_of(const Mesh& mesh, const AxisRef& ref) { return mesh.axes[ref.axis].size / end_of(ref); }

} // namespace shard
