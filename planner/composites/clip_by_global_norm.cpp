#include "planner/graph/chain.h"

namespace shard {

namespace {

// As optax: below the limit nothing changes, not even the last bit.
BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes, Span) {
    Chain chain(builder);
    const double limit = attributes.number("max_norm");
    const ValueId norm = chain("global_norm", {operands.begin(), operands.end()});
    const ValueId below = chain("lt", norm, limit);
    std::vector<ValueId> clipped;
    for (ValueId x : operands)
        clipped.push_back(chain("select", {below, x, chain("mul", chain("div", {x, norm}), limit)}));
    return chain.results(std::move(clipped));
}

} // namespace

const CompositeDef& composite_clip_by_global_norm() {
    static const CompositeDef def = {
        "clip_by_global_norm",
        "Several values, scaled down together if their global norm is above a limit; as many results.\n"
        "{clip_by_global_norm: [g1, g2], max_norm: 1.0}",
        {1, -1},
        {{"max_norm", AttributeDef::Type::number, true, "the largest norm that stays as it is"}},
        build};
    return def;
}

} // namespace shard
