#include "planner/graph/chain.h"

namespace shard {

namespace {

// Of two infinities that are one the difference is no number, and the answer that infinity.
BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes&, Span span) {
    for (const ValueId operand : operands)
        if (!require_floating(builder, operand, "logaddexp", 0, span)) return std::nullopt;
    Chain chain(builder);
    const ValueId apart = chain("sub", {operands[0], operands[1]});
    if (!chain.ok()) return std::nullopt;
    const ValueId known =
        chain("select", {chain("ne", {apart, apart}), chain.scalar(0, chain.type(apart).dtype), chain("abs", {apart})});
    const ValueId rest = chain("log1p", {chain("exp", {chain("neg", {known})})});
    return chain.result(chain("add", {chain("max", {operands[0], operands[1]}), rest}));
}

} // namespace

const CompositeDef& composite_logaddexp() {
    static const CompositeDef def = {
        "logaddexp",
        "log(exp(a) + exp(b)), element by element, as max(a, b) + log1p(exp(-|a - b|)).\n{logaddexp: [a, b]}",
        {2, 2},
        {},
        build};
    return def;
}

} // namespace shard
