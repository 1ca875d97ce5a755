#include "planner/graph/chain.h"

namespace shard {

namespace {

BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes&, Span) {
    Chain chain(builder);
    const ValueId product = chain("dot", {operands[0], operands[1]});
    if (operands.size() == 2) return chain.result(product);
    return chain.result(chain("add", {product, operands[2]}));
}

} // namespace

const CompositeDef& composite_linear() {
    static const CompositeDef def = {"linear", "x w, or x w + b.\n{linear: [x, w, b]}", {2, 3}, {}, build};
    return def;
}

} // namespace shard
