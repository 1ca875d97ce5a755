// What logical-axis rules make of the names of one array.
#pragma once

#include "planner/model/layout.h"

#include <string>
#include <vector>

namespace shard {

// Logical names of one array -> one mesh-axes list per dim, with the reason of every assignment.
struct RuleOutcome {
    struct Dim {
        std::vector<AxisRef> axes;
        bool open = false; // unconstrained
        int rule = -1;     // the rule that assigned it, -1 = none; nnx: own rules count on from the layout's
    };
    struct Rejected {
        int rule = -1;
        std::string reason; // "mesh axis 'model' is already used by dim 0 (hidden)"
    };
    std::vector<Dim> dims;
    std::vector<Rejected> rejected;
};

} // namespace shard
