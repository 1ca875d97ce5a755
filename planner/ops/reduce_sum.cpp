#include "planner/ops_support/gradient.h"
#include "planner/ops_support/reduce.h"

namespace shard {

namespace {

std::vector<ValueId> gradient(const GradientContext& context) {
    Chain chain(context.builder);
    const TensorType type = chain.type(context.inputs[0]);
    return {repeat_along(chain, context.cotangent, context.attributes.integers("dims"), type)};
}

} // namespace

const OpDef& op_reduce_sum() {
    static const OpDef def = reduce_op<ReduceOp::sum>(
        "reduce_sum", "The sum over some dims.\n{reduce_sum: x, dims: [-1], keepdims: true}", gradient);
    return def;
}

} // namespace shard
