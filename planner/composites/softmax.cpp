#include "planner/graph/chain.h"
#include "planner/ops_support/infer.h"

namespace shard {

namespace {

// The largest element is subtracted first, so that exp cannot overflow.
BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes, Span span) {
    const ValueId x = operands[0];
    if (!require_floating(builder, x, "softmax", 1, span)) return std::nullopt;
    const Attributes along = keep_dims(dims_or_last(attributes, builder.type(x).rank()));
    Chain chain(builder);
    const ValueId e = chain("exp", {chain("sub", {x, chain("reduce_max", {x}, along)})});
    return chain.result(chain("div", {e, chain("reduce_sum", {e}, along)}));
}

// y (g - sum of g y): only the result is kept.
std::vector<ValueId> gradient(const GradientContext& at) {
    Chain chain(at.builder);
    const ValueId y = at.output, g = at.cotangent;
    const Attributes along = keep_dims(dims_or_last(at.attributes, chain.type(y).rank()));
    const ValueId mean = chain("reduce_sum", {chain("mul", {g, y})}, along);
    const ValueId result = chain("mul", {y, chain("sub", {g, mean})});
    internal_check(chain.ok(), "a gradient does not fit");
    return {result};
}

} // namespace

const CompositeDef& composite_softmax() {
    static const CompositeDef def = {
        "softmax", "exp(x) / sum of exp(x) along a dim, or over several.\n{softmax: x, dim: -1}",
        {1, 1},    {{"dim", AttributeDef::Type::dims, false, "the dim, or dims, that sum to 1; the last unless said"}},
        build,     gradient};
    return def;
}

} // namespace shard
