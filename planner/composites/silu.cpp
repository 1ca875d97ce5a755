#include "planner/graph/chain.h"

namespace shard {

namespace {

BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes&, Span span) {
    if (!require_floating(builder, operands[0], "silu", 0, span)) return std::nullopt;
    Chain chain(builder);
    return chain.result(chain("mul", {operands[0], chain("logistic", {operands[0]})}));
}

} // namespace

const CompositeDef& composite_silu() {
    static const CompositeDef def = {"silu", "x / (1 + exp(-x)).\n{silu: x}", {1, 1}, {}, build};
    return def;
}

} // namespace shard
