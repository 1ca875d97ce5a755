// Why an axis is on a value: the decisions from the value back to the line that asked for it. And why another is not.
#pragma once

#include "planner/propagate/propagate.h"

namespace shard {

// The decisions that put `axis` (or part of it) on `dim` of `value`, the latest first; the last one is the seed: a
// rule, an override, a constraint, .... Empty if the axis is not there. With a propagated axis, each entry's `node` and
// `from` say where the next entry's value is.
//
//     cause_chain(log, h, 0, data)  ->  {h dim 0, propagation through dot from x}, {x dim 0, rule 0 "batch: data"}
std::vector<Decision> cause_chain(const DecisionLog& log, ValueId value, int dim, const AxisRef& axis);

// An axis that a value next to this one has on a dim that the two share, and that this one lacks there.
//
//     x [data | model], w [data | -], dot: the result's columns could have data from w, but its rows have it from x
struct LostAxis {
    AxisRef axis;
    ValueId from = -1;            // who has it
    NodeId node = -1;             // the op that both are at
    int dim = -1;                 // the dim of this value that it splits already; -1 if it is not that
    std::vector<AxisRef> instead; // what is on the shared dim: here, or on a third value of the op
};
// Those for which a reason is known: used on another dim, another axis in the place, or (neither) it does not divide.
std::vector<LostAxis> lost_axes(const Graph& graph, const Shardings& shardings, ValueId value, int dim);

} // namespace shard
