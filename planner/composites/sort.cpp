#include "planner/composites_support/take_along.h"
#include "planner/ops_support/infer.h"

#include <fmt/format.h>

namespace shard {

namespace {

BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes, Span span) {
    const i64 keys = attributes.integer("keys", 1);
    if (keys < 1 || keys > static_cast<i64>(operands.size())) {
        builder.diagnostics()
            .error("E0226", span,
                   fmt::format("'sort' has {} operands, of which {} cannot be keys", operands.size(), keys))
            .help("at least one is a key, and at most all");
        return std::nullopt;
    }
    const TensorType type = builder.type(operands[0]);
    for (const ValueId operand : operands) {
        if (builder.type(operand).shape == type.shape) continue;
        builder.diagnostics()
            .error("E0223", span,
                   fmt::format("'sort' orders values of one shape, and they are {} and {}", shape_text(type.shape),
                               shape_text(builder.type(operand).shape)))
            .help("write `broadcast` for what is repeated; for rows by an order there is `argsort` and `gather`");
        return std::nullopt;
    }
    const std::vector<i64> dim = dims_or_last(attributes, type.rank());
    Chain chain(builder);
    const ValueId positions =
        chain("argsort", {operands.begin(), operands.begin() + keys},
              attributes_of({{"dim", dim}, {"descending", attributes.flag("descending", false)}}));
    if (!chain.ok()) return std::nullopt;
    std::vector<ValueId> results;
    for (const ValueId operand : operands) results.push_back(take_along(chain, operand, positions, dim[0]));
    return chain.results(std::move(results));
}

} // namespace

const CompositeDef& composite_sort() {
    static const CompositeDef def = {
        "sort",
        "The elements along a dim in ascending order, NaN last; of several operands each in the order of the first, or "
        "of the first few. Equal ones stay in order.\n{sort: [keys, values], dim: -1, descending: true}",
        {1, -1},
        {{"dim", AttributeDef::Type::dim, false, "the dim to order along; the last unless said"},
         {"keys", AttributeDef::Type::integer, false, "how many operands decide, the first one first; 1 unless said"},
         {"descending", AttributeDef::Type::flag, false, "the largest first"}},
        build};
    return def;
}

} // namespace shard
