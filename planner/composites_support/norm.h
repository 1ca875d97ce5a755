// What layer_norm and rms_norm share.
#pragma once

#include "planner/composites_support/chain.h"

namespace shard {

// x * rsqrt(mean of x * x along dim + eps).
ValueId normalized(Chain& chain, ValueId x, i64 dim, double eps);
// A vector along `dim` of x, shaped so that it broadcasts against x. E0223 if it is not one.
std::optional<ValueId> along_dim(Builder& builder, ValueId vector, ValueId x, i64 dim, std::string_view composite,
                                 Span span);

} // namespace shard
