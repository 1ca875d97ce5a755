#include "planner/graph/chain.h"

#include <fmt/format.h>

#include <cmath>

namespace shard {

namespace {

// Large enough that its exponential is 0, small enough that differences stay finite in bf16 and f32.
constexpr double masked_score = -1e30;

struct Sizes {
    i64 batch, queries, heads, width, keys, kv_heads;
};

// q (batch, queries, heads, width), k and v (batch, keys, kv_heads, width).
std::optional<Sizes> check_shapes(Builder& builder, std::span<const ValueId> operands, Span span) {
    const Shape q = builder.type(operands[0]).shape, k = builder.type(operands[1]).shape,
                v = builder.type(operands[2]).shape;
    const bool fits = q.size() == 4 && k.size() == 4 && v.size() == 4 && q[0] == k[0] && q[3] == k[3] &&
                      q[2] % k[2] == 0 && v[0] == k[0] && v[1] == k[1] && v[2] == k[2];
    if (fits) return Sizes{q[0], q[1], q[2], q[3], k[1], k[2]};
    builder.diagnostics()
        .error(
            "E0223", span,
            fmt::format("'attention' cannot combine q {}, k {} and v {}", shape_text(q), shape_text(k), shape_text(v)))
        .note("q is (batch, queries, heads, head_dim), k and v are (batch, keys, kv_heads, head_dim)")
        .help("batch and head_dim must be equal, and heads a multiple of kv_heads");
    return std::nullopt;
}

// Whether the query stands at or after the key: (queries, keys), by comparing positions.
ValueId causal_mask(Chain& chain, const Sizes& sizes, const std::vector<std::string>& q_logical,
                    const std::vector<std::string>& k_logical) {
    Attributes row = shape_of({sizes.queries, 1}, {q_logical[1], ""}),
               column = shape_of({1, sizes.keys}, {"", k_logical[1]});
    row.set("dim", std::vector<i64>{0});
    column.set("dim", std::vector<i64>{1});
    return chain("ge", {chain("iota", {}, row), chain("iota", {}, column)});
}

BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes, Span span) {
    for (ValueId id : operands)
        if (!require_floating(builder, id, "attention", 4, span)) return std::nullopt;
    const std::optional<Sizes> sizes = check_shapes(builder, operands, span);
    if (!sizes) return std::nullopt;
    const TensorType q = builder.type(operands[0]), k = builder.type(operands[1]);
    const i64 group = sizes->heads / sizes->kv_heads, v_width = builder.type(operands[2]).shape[3];
    const bool grouped = group > 1;
    Chain chain(builder);
    ValueId query =
        chain("mul", operands[0], attributes.number("scale", 1 / std::sqrt(static_cast<double>(sizes->width))));
    if (grouped)
        query = chain("reshape", {query},
                      shape_of({sizes->batch, sizes->queries, sizes->kv_heads, group, sizes->width},
                               {q.logical[0], q.logical[1], k.logical[2], "", q.logical[3]}));
    const std::string to_scores = grouped ? "blkgd,bmkd->bkglm" : "blkd,bmkd->bklm",
                      to_values = grouped ? "bkglm,bmkd->blkgd" : "bklm,bmkd->blkd";
    ValueId scores = chain("einsum", {query, operands[1]}, attributes_of({{"equation", to_scores}}));
    const DType wide = computed_as(q.dtype); // exponentials are taken in f32: bf16 has 8 bits only
    scores = chain.cast(scores, wide);
    if (attributes.flag("causal", false) && chain.ok())
        scores = chain("select",
                       {causal_mask(chain, *sizes, q.logical, k.logical), scores, builder.scalar(masked_score, wide)});
    const ValueId weights = chain.cast(chain("softmax", {scores}), q.dtype);
    ValueId result = chain("einsum", {weights, operands[2]}, attributes_of({{"equation", to_values}}));
    if (grouped)
        result = chain("reshape", {result}, shape_of({sizes->batch, sizes->queries, sizes->heads, v_width}, q.logical));
    return chain.result(result);
}

} // namespace

const CompositeDef& composite_attention() {
    static const CompositeDef def = {
        "attention",
        "softmax(q k^T * scale) v for each head; q has a multiple of the heads that k and v have, and groups of them "
        "share.\n"
        "{attention: [q, k, v], causal: true}",
        {3, 3},
        {{"causal", AttributeDef::Type::flag, false, "a query sees the keys up to its own position; false unless said"},
         {"scale", AttributeDef::Type::number, false, "1 / sqrt(head_dim) unless said"}},
        build};
    return def;
}

} // namespace shard
