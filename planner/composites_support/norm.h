// What layer_norm and rms_norm share.
#pragma once

#include "planner/graph/chain.h"

namespace shard {

// x * rsqrt(mean of x * x over dims + eps).
ValueId normalized(Chain& chain, ValueId x, const std::vector<i64>& dims, double eps);
// A value with the sizes of x along `dims`, which rise, shaped so that it broadcasts against x. E0223 if it is not one.
std::optional<ValueId> along_dims(Builder& builder, ValueId scale, ValueId x, const std::vector<i64>& dims,
                                  std::string_view composite, Span span);

} // namespace shard
