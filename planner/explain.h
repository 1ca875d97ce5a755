// Why an axis is on a value: the decisions from the value back to the line that asked for it.
#pragma once

#include "planner/decision.h"

namespace shard {

// The decisions that put `axis` (or part of it) on `dim` of `value`, the latest first; the last one is the seed: a
// rule, an override, a constraint, .... Empty if the axis is not there. With a propagated axis, each entry's `node` and
// `from` say where the next entry's value is.
//
//     cause_chain(log, h, 0, data)  ->  {h dim 0, propagation through dot from x}, {x dim 0, rule 0 "batch: data"}
std::vector<Decision> cause_chain(const DecisionLog& log, ValueId value, int dim, const AxisRef& axis);

} // namespace shard
