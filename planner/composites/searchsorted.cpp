#include "planner/graph/chain.h"

#include <fmt/format.h>

namespace shard {

namespace {

// How many of the sorted elements come before: all are compared with all, so every dim may be split.
BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes, Span span) {
    const TensorType sorted = builder.type(operands[0]), type = builder.type(operands[1]);
    const std::string side = attributes.string("side", std::string("left"));
    if (sorted.rank() != 1) {
        builder.diagnostics()
            .error("E0223", span,
                   fmt::format("'searchsorted' looks in a sorted list, and it is given {}", shape_text(sorted.shape)))
            .help("the first operand has one dim");
        return std::nullopt;
    }
    if (side != "left" && side != "right") {
        builder.diagnostics()
            .error("E0226", span, fmt::format("'searchsorted' has no side '{}'", side))
            .help("write `side: left` or `side: right`");
        return std::nullopt;
    }
    Chain chain(builder);
    Shape column = type.shape;
    column.push_back(1);
    std::vector<std::string> logical = type.logical;
    logical.emplace_back();
    const ValueId values = chain("reshape", {operands[1]}, shape_of(column, logical));
    const ValueId is_before = chain(side == "left" ? "lt" : "le", {operands[0], values});
    const ValueId ones = chain("cast", {is_before}, attributes_of({{"dtype", std::string("i32")}}));
    return chain.result(
        chain("reduce_sum", {ones}, attributes_of({{"dims", std::vector<i64>{static_cast<i64>(type.shape.size())}}})));
}

} // namespace

const CompositeDef& composite_searchsorted() {
    static const CompositeDef def = {
        "searchsorted",
        "Where each value would have to be put into a sorted list to keep it sorted, as i32: before equal elements, or "
        "behind them. All are compared with all.\n{searchsorted: [sorted, x], side: right}",
        {2, 2},
        {{"side", AttributeDef::Type::string, false, "left, before equal elements, unless said; or right"}},
        build};
    return def;
}

} // namespace shard
