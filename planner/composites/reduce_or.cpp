#include "planner/graph/chain.h"
#include "planner/ops_support/reduce.h"

namespace shard {

namespace {

BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes, Span span) {
    if (!require_boolean(builder, operands[0], "reduce_or", span)) return std::nullopt;
    Chain chain(builder);
    const ValueId bytes = chain("reduce_max", {chain.cast(operands[0], DType::u8)}, attributes);
    return chain.result(chain.cast(bytes, DType::boolean));
}

} // namespace

const CompositeDef& composite_reduce_or() {
    static const CompositeDef def = {
        "reduce_or",
        "Of truths over some dims: whether any of them is true.\n{reduce_or: p, dims: [-1], keepdims: true}",
        {1, 1},
        reduce_attributes("the dims to look over; all unless said"),
        build};
    return def;
}

} // namespace shard
