#include "planner/ops_support/pointwise.h"

namespace shard {

const OpDef& op_eq() {
    static const OpDef def =
        pointwise_op<ScalarOp::eq, PointwiseTypes::comparison>("eq", "Whether x equals y.\n{eq: [x, y]}");
    return def;
}

} // namespace shard
