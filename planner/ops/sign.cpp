#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_sign() {
    static const OpDef def = pointwise_op<ScalarOp::sign, PointwiseTypes::signed_>(
        "sign", "-1, 0 or 1 by the sign of x; NaN stays NaN.\n{sign: x}");
    return def;
}

} // namespace shard
