#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_sub() {
    static const OpDef def = [] {
        OpDef made = pointwise_op<ScalarOp::sub, PointwiseTypes::numeric>(
            "sub", "x - y, with numpy broadcasting.\n{sub: [x, y]}");
        made.jointly_linear = true;
        return made;
    }();
    return def;
}

} // namespace shard
