#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_add() {
    static const OpDef def = [] {
        OpDef made = pointwise_op<ScalarOp::add, PointwiseTypes::numeric>(
            "add", "x + y, with numpy broadcasting.\n{add: [x, y]}");
        made.jointly_linear = true;
        return made;
    }();
    return def;
}

} // namespace shard
