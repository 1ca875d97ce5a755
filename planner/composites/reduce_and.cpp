#include "planner/graph/chain.h"

namespace shard {

namespace {

BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes, Span span) {
    if (!require_boolean(builder, operands[0], "reduce_and", span)) return std::nullopt;
    Chain chain(builder);
    const ValueId bytes = chain("reduce_min", {chain.cast(operands[0], DType::u8)}, attributes);
    return chain.result(chain.cast(bytes, DType::boolean));
}

} // namespace

const CompositeDef& composite_reduce_and() {
    static const CompositeDef def = {
        "reduce_and",
        "Of truths over some dims: whether all of them are true.\n{reduce_and: p, dims: [-1], keepdims: true}",
        {1, 1},
        {{"dims", AttributeDef::Type::dims, false, "the dims to look over; all unless said"},
         {"dim", AttributeDef::Type::dims, false, "the same, for one dim"},
         {"axes", AttributeDef::Type::dims, false, "the same, by logical names"},
         {"keepdims", AttributeDef::Type::flag, false, "keep those dims, with size 1"}},
        build};
    return def;
}

} // namespace shard
