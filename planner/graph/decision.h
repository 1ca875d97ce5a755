// The append-only log behind `explain`: why each axis is on each value. It stores integers and is formatted on demand.
#pragma once

#include "planner/graph/graph.h"

namespace shard {

struct Decision {
    enum class Cause {
        rule,       // a rule of the layout matched the dim's logical axis
        override_,  // the layout's `params`, `inputs`, `states`, ..., by path
        mesh_spec,  // the model's own `mesh:` of an input or parameter
        constraint, // a constrain node
        output,     // the layout's `outputs`
        fsdp,       // the layout's `fsdp`
        spread,     // behind the sum that `node` makes (planner/partition/spread.h)
        attention,  // how attention comes to keys that other devices hold (planner/attention)
        read,       // as the product `node` needs what is made for it (planner/pipeline/values_as_read.h)
        weight,     // the product `node` lies as its weight `from` (planner/pipeline/products_as_weights.h)
        parameter,  // a state or gradient follows what it belongs to, `from`
        propagation
    };
    ValueId value = -1;
    int dim = -1;
    std::vector<AxisRef> axes; // added to the dim by this decision
    Cause cause = Cause::rule;
    NodeId node = -1;  // propagation: the node it came through; constraint: the constrain node
    ValueId from = -1; // propagation, parameter, weight: the value it came from
    int rule = -1;     // rule: index into the layout's rules
    Span span;         // the line that decided it
};
using DecisionLog = std::vector<Decision>;

} // namespace shard
