#include "planner/graph/chain.h"

namespace shard {

namespace {

BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes&, Span span) {
    Chain chain(builder);
    std::vector<ValueId> squares;
    for (ValueId x : operands) {
        if (!require_floating(builder, x, "global_norm", 0, span)) return std::nullopt;
        squares.push_back(chain("reduce_sum", {chain("mul", {x, x})}));
    }
    // One add after the other behind all of them: their order is open (planner/rewrite/group_sums.h).
    ValueId sum = squares.front();
    for (size_t n = 1; n < squares.size(); ++n) sum = chain("add", {sum, squares[n]});
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
