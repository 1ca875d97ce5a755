// The number of a device, of which jax.lax.axis_index takes a coordinate: number / (devices behind the axis) % size.
#pragma once

#include "importer/model/op_context.h"

namespace shard {

DraftId partition_number(OpContext& context, DType dtype);

// What `value % size` is, if value is such a quotient: the index along an axis of the region.
std::optional<DraftId> index_along_axis(OpContext& context, DraftId value, i64 size);

} // namespace shard
