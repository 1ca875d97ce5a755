// What gather and the scatters share: which dims of a table, of indices into it and of what is found are one dim
// (plans/kernel/lookup.h).
#pragma once

#include "planner/graph/op_def.h"
#include "plans/kernel/lookup.h"

namespace shard {

AttributeDef batch_attribute(); // batch: pairs [dim of the table, dim of the indices] that are one dim
// Along dim `axis` of the table, with the pairs of the attribute `batch`.
Lookup lookup_of(i64 axis, const Attributes& attributes);
// E0226 if there is a problem with it.
bool check_lookup(const InferContext& context, const Lookup& lookup, const Shape& table, const Shape& indices);
// The arguments of a gather or scatter along the same dims.
Attributes lookup_attributes(const GradientContext& context, AttributeValue dim);

} // namespace shard
