#include "planner/composites_support/take_along.h"
#include "planner/ops_support/infer.h"

namespace shard {

namespace {

BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes, Span) {
    const ValueId x = operands[0];
    const std::vector<i64> dim = dims_or_last(attributes, builder.type(x).rank());
    Chain chain(builder);
    const ValueId positions =
        chain("argsort", {x}, attributes_of({{"dim", dim}, {"descending", true}, {"first", attributes.integers("k")}}));
    if (!chain.ok()) return std::nullopt;
    return chain.results({take_along(chain, x, positions, dim[0]), positions});
}

} // namespace

const CompositeDef& composite_top_k() {
    static const CompositeDef def = {
        "top_k",
        "The k largest elements along a dim, the largest first, and their positions as i32; of equal ones the first "
        "come "
        "first. Two results.\n{top_k: logits, k: 2}",
        {1, 1},
        {{"k", AttributeDef::Type::size, true, "how many"},
         {"dim", AttributeDef::Type::dim, false, "the dim to choose along; the last unless said"}},
        build};
    return def;
}

} // namespace shard
