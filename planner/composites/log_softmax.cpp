#include "planner/graph/chain.h"
#include "planner/ops_support/infer.h"

namespace shard {

namespace {

BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes, Span span) {
    const ValueId x = operands[0];
    if (!require_floating(builder, x, "log_softmax", 1, span)) return std::nullopt;
    const Attributes along = keep_dims(dims_or_last(attributes, builder.type(x).rank()));
    Chain chain(builder);
    const ValueId shifted = chain("sub", {x, chain("reduce_max", {x}, along)});
    const ValueId sum = chain("reduce_sum", {chain("exp", {shifted})}, along);
    return chain.result(chain("sub", {shifted, chain("log", {sum})}));
}

// g - exp(y) sum of g: only the result is kept.
std::vector<ValueId> gradient(const GradientContext& at) {
    Chain chain(at.builder);
    const ValueId y = at.output, g = at.cotangent;
    const ValueId sum = chain("reduce_sum", {g}, keep_dims(dims_or_last(at.attributes, chain.type(y).rank())));
    const ValueId result = chain("sub", {g, chain("mul", {chain("exp", {y}), sum})});
    internal_check(chain.ok(), "a gradient does not fit");
    return {result};
}

} // namespace

const CompositeDef& composite_log_softmax() {
    static const CompositeDef def = {"log_softmax",
                                     "x - log(sum of exp(x)) along a dim, or over several.\n{log_softmax: x, dim: -1}",
                                     {1, 1},
                                     {{"dim", AttributeDef::Type::dims, false,
                                       "the dim, or dims, whose exponentials sum to 1; the last unless said"}},
                                     build,
                                     gradient};
    return def;
}

} // namespace shard
