#include "planner/ops_support/gradient.h"
#include "planner/ops_support/scatter.h"

namespace shard {

namespace {

std::vector<ValueId> gradient(const GradientContext& context) {
    Chain chain(context.builder);
    return {-1, found_in(chain, context, context.cotangent)};
}

} // namespace

const OpDef& op_scatter_add() {
    static const OpDef def = scatter_op<ReduceOp::sum>(
        "scatter_add",
        "Adds rows into zeros, or into an operand: out[..., indices[i...], ...] += updates[..., i..., ...]; "
        "indices beyond the ends take the end.\n"
        "{scatter_add: [tokens, updates], size: vocab}",
        gradient);
    return def;
}

} // namespace shard
