#include "planner/ops_support/gradient.h"
#include "planner/ops_support/reduce.h"

namespace shard {

namespace {

// Each element's factor is the product of the others: of those that are not 0, or 0 if one of the others is.
std::vector<ValueId> gradient(const GradientContext& context) {
    Chain chain(context.builder);
    const ValueId x = context.inputs[0];
    const TensorType type = chain.type(x);
    const Attributes dims = attributes_of({{"dims", context.attributes.integers("dims")}});
    const auto repeat = [&](ValueId reduced) {
        return repeat_along(chain, reduced, context.attributes.integers("dims"), type);
    };
    const ValueId zero = chain("eq", x, 0);
    const ValueId zeros = chain.cast(zero, type.dtype);
    const ValueId zeros_elsewhere = chain("sub", {repeat(chain("reduce_sum", {zeros}, dims)), zeros});
    const ValueId factor = chain("select", {zero, context.builder.scalar(1, type.dtype), x});
    const ValueId product = chain("mul", {context.cotangent, chain("reduce_prod", {factor}, dims)});
    const ValueId others = chain("div", {repeat(product), factor});
    const ValueId alone = chain("eq", zeros_elsewhere, 0);
    return {chain("select", {alone, others, context.builder.scalar(0, type.dtype)})};
}

} // namespace

const OpDef& op_reduce_prod() {
    static const OpDef def = reduce_op<ReduceOp::prod>(
        "reduce_prod", "The product over some dims.\n{reduce_prod: x, dims: [-1], keepdims: true}", gradient);
    return def;
}

} // namespace shard
