#include "planner/ops_support/lookup.h"

#include "planner/graph/chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace shard {

namespace {

constexpr std::string_view batch = "batch";

int to_dim(i64 number) { return static_cast<int>(std::clamp<i64>(number, -1, std::numeric_limits<int>::max())); }

} // namespace

AttributeDef batch_attribute() {
    return {batch, AttributeDef::Type::pairs, false,
            "pairs of a dim of the table and one of the indices that are one dim: none unless said"};
}

Lookup lookup_of(i64 axis, const Attributes& attributes) {
    Lookup lookup;
    lookup.axis = to_dim(axis);
    if (!attributes.has(batch)) return lookup;
    const std::vector<i64>& pairs = attributes.integers(batch);
    for (size_t p = 0; p + 1 < pairs.size(); p += 2) lookup.batch.emplace_back(to_dim(pairs[p]), to_dim(pairs[p + 1]));
    return lookup;
}

bool check_lookup(const InferContext& context, const Lookup& lookup, const Shape& table, const Shape& indices) {
    const std::string problem = lookup_problem(lookup, table, indices);
    if (problem.empty()) return true;
    context.diagnostics.error("E0226", context.span, fmt::format("`batch` of '{}': {}", context.op, problem))
        .help("each pair is a dim of the table and one of the indices, of one size: [[0, 0]]");
    return false;
}

Attributes lookup_attributes(const GradientContext& context, AttributeValue dim) {
    Attributes attributes;
    attributes.set("dim", std::move(dim));
    if (context.attributes.has(batch)) attributes.set(std::string(batch), context.attributes.integers(batch));
    return attributes;
}

} // namespace shard
