// What to_local and from_local share. On the global side a dim is the devices along it (major) and what one of them
// holds (minor), so shardings over the mesh's other axes pass through the minor factor.
//
//     to_local (8, 16), parts [4, 1]:  ([ij, k])->([j, k]) {i=4, j=2, k=16}
#pragma once

#include "planner/ops_support/device.h"

namespace shard {

// `local` is the type inside the region, `attributes` hold `parts`: the devices along each dim. `enters`: of to_local,
// whose operand is the global side; else of from_local.
IndexRule border_rule(const TensorType& local, const Attributes& attributes, bool enters);
// The sharding written where the value that a gradient is asked of crosses the border: its cotangent crosses it with
// the same, the other way.
const ShardingSpec& border_of(const GradientContext& context);

} // namespace shard
