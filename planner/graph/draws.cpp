#include "planner/graph/draws.h"

namespace shard {

bool draws(const OpDef& op, const Attributes& attributes) {
    return op.draws && (!op.attends || attributes.has("dropout"));
}

Shape drawn_shape(const OpDef& op, std::span<const TensorType> operands, const TensorType& result) {
    if (!op.attends) return result.shape;
    const Shape &q = operands[0].shape, &k = operands[1].shape;
    return {q[0], q[2], q[1], k[1]};
}

} // namespace shard
