#include "planner/graph/chain.h"

namespace shard {

namespace {

// Neither overflows where x is large nor loses what is small where it is not.
BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes&, Span span) {
    const ValueId x = operands[0];
    if (!require_floating(builder, x, "softplus", 0, span)) return std::nullopt;
    Chain chain(builder);
    const ValueId rest = chain("log1p", {chain("exp", {chain("neg", {chain("abs", {x})})})});
    return chain.result(chain("add", {chain("max", x, 0), rest}));
}

} // namespace

const CompositeDef& composite_softplus() {
    static const CompositeDef def = {
        "softplus", "log(1 + exp(x)), as max(x, 0) + log1p(exp(-|x|)).\n{softplus: x}", {1, 1}, {}, build};
    return def;
}

} // namespace shard
