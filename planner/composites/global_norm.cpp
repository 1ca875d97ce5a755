#include "planner/graph/chain.h"

namespace shard {

namespace {

BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes&, Span span) {
    Chain chain(builder);
    ValueId sum = -1;
    for (ValueId x : operands) {
        if (!require_floating(builder, x, "global_norm", 0, span)) return std::nullopt;
        const ValueId squares = chain("reduce_sum", {chain("mul", {x, x})});
        sum = sum < 0 ? squares : chain("add", {sum, squares});
    }
    return chain.result(chain("sqrt", {sum}));
}

} // namespace

const CompositeDef& composite_global_norm() {
    static const CompositeDef def = {
        "global_norm",
        "The Euclidean norm of all elements of several values together.\n{global_norm: [g1, g2]}",
        {1, -1},
        {},
        build};
    return def;
}

} // namespace shard
