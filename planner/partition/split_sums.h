// How an op that sums up a gradient is held to it: ComputeQuery::sums_where_split.
#pragma once

#include "planner/partition/compute_sharding.h"

namespace shard {

// Of reductions over dims that all operands have split alike, as ways to compute that split alone is left. Of dims that are
// split over the same axes, which an op cannot use twice, the first. `candidates`: axis lists by factor.
void keep_split_sums(const IndexRule& rule, const ComputeQuery& query,
                     std::vector<std::vector<std::vector<AxisRef>>>& candidates);

// A pending sum that the result is kept split over is not added up as it is, and may as well be scattered before the op: of
// a conversion to a wider type half as much is sent so.
bool is_scattered_at_once(const ComputeQuery& query, int operand);

} // namespace shard
