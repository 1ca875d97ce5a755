#include "planner/builder.h"

namespace shard {

namespace {

BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes&, Span) {
    return builder.emit_all("max", {operands[0], builder.scalar(0, builder.type(operands[0]).dtype)});
}

} // namespace

const CompositeDef& composite_relu() {
    static const CompositeDef def = {"relu", "x where it is positive, else 0.\n{relu: x}", {1, 1}, {}, build};
    return def;
}

} // namespace shard
