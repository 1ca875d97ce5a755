#include "planner/composites_support/norm.h"

namespace shard {

namespace {

BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes, Span span) {
    const ValueId x = operands[0];
    if (!require_floating(builder, x, "layer_norm", 1, span)) return std::nullopt;
    const i64 dim = dim_or_last(attributes, builder.type(x).rank());
    Chain chain(builder);
    const ValueId centered = chain("sub", {x, chain("mean", {x}, keep_dim(dim))});
    ValueId result = normalized(chain, centered, dim, attributes.number("eps", 1e-6));
    for (size_t n = 1; n < operands.size() && chain.ok(); ++n) {
        const std::optional<ValueId> vector = along_dim(builder, operands[n], x, dim, "layer_norm", span);
        if (!vector) return std::nullopt;
        result = chain(n == 1 ? "mul" : "add", {result, *vector});
    }
    return chain.result(result);
}

} // namespace

const CompositeDef& composite_layer_norm() {
    static const CompositeDef def = {"layer_norm",
                                     "(x - mean) / sqrt(variance + eps) along a dim, times scale, plus "
                                     "bias.\n{layer_norm: [x, scale, bias], eps: 1.0e-5}",
                                     {1, 3},
                                     {{"eps", AttributeDef::Type::number, false, "1e-6 unless said"},
                                      {"dim", AttributeDef::Type::dims, false, "the last unless said"}},
                                     build};
    return def;
}

} // namespace shard
