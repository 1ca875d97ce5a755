#include "planner/composites_support/norm.h"
#include "planner/ops_support/infer.h"

namespace shard {

namespace {

BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes, Span span) {
    const ValueId x = operands[0];
    if (!require_floating(builder, x, "layer_norm", 1, span)) return std::nullopt;
    const std::vector<i64> dims = dims_or_last(attributes, builder.type(x).rank());
    Chain chain(builder);
    const ValueId mean = chain("mean", {x}, keep_dims(dims)), centered = chain("sub", {x, mean});
    const double eps = attributes.number("eps", 1e-6);
    ValueId result = centered;
    if (attributes.flag("fast_variance", false)) {
        const ValueId squares = chain("mean", {chain("mul", {x, x})}, keep_dims(dims));
        const ValueId variance = chain("max", chain("sub", {squares, chain("mul", {mean, mean})}), 0);
        result = chain("mul", {centered, chain("rsqrt", {chain("add", variance, eps)})});
    } else {
        result = normalized(chain, centered, dims, eps);
    }
    for (size_t n = 1; n < operands.size() && chain.ok(); ++n) {
        const std::optional<ValueId> vector = along_dims(builder, operands[n], x, dims, "layer_norm", span);
        if (!vector) return std::nullopt;
        result = chain(n == 1 ? "mul" : "add", {result, *vector});
    }
    return chain.result(result);
}

} // namespace

const CompositeDef& composite_layer_norm() {
    static const CompositeDef def = {
        "layer_norm",
        "(x - mean) / sqrt(variance + eps) along a dim, or over several, times scale, plus "
        "bias.\n{layer_norm: [x, scale, bias], eps: 1.0e-5}",
        {1, 3},
        {{"eps", AttributeDef::Type::number, false, "1e-6 unless said"},
         {"dim", AttributeDef::Type::dims, false, "the dim, or dims; the last unless said"},
         {"fast_variance", AttributeDef::Type::flag, false,
          "the mean of squares less the square of the mean, as Flax takes it"}},
        build};
    return def;
}

} // namespace shard
