#include "planner/graph/chain.h"

namespace shard {

namespace {

BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes&, Span) {
    return builder.emit_all("mul", {operands[0], operands[0]});
}

} // namespace

const CompositeDef& composite_square() {
    static const CompositeDef def = {"square", "x * x.\n{square: x}", {1, 1}, {}, build};
    return def;
}

} // namespace shard
