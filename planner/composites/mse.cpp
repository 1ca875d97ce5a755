#include "planner/graph/chain.h"

#include <fmt/format.h>

namespace shard {

namespace {

// Broadcasting a target of another shape is nearly always a slip, and its mean another number.
BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes&, Span span) {
    if (!require_floating(builder, operands[0], "mse", 0, span)) return std::nullopt;
    const TensorType &value = builder.type(operands[0]), &target = builder.type(operands[1]);
    if (value.shape != target.shape) {
        builder.diagnostics()
            .error("E0223", span,
                   fmt::format("'mse' compares a value of shape {} with a target of shape {}", shape_text(value.shape),
                               shape_text(target.shape)))
            .help("both need one shape: reshape or broadcast one of them");
        return std::nullopt;
    }
    Chain chain(builder);
    return chain.result(chain("mean", {chain("square", {chain("sub", {operands[0], operands[1]})})}));
}

} // namespace

const CompositeDef& composite_mse() {
    static const CompositeDef def = {
        "mse", "The mean of squared differences, over all elements.\n{mse: [z, label]}", {2, 2}, {}, build};
    return def;
}

} // namespace shard
