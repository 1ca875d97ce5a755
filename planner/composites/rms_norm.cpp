#include "planner/composites_support/norm.h"
#include "planner/ops_support/infer.h"

namespace shard {

namespace {

BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes, Span span) {
    const ValueId x = operands[0];
    if (!require_floating(builder, x, "rms_norm", 1, span)) return std::nullopt;
    const std::vector<i64> dims = dims_or_last(attributes, builder.type(x).rank());
    Chain chain(builder);
    const ValueId result = normalized(chain, x, dims, attributes.number("eps", 1e-6));
    if (operands.size() == 1 || !chain.ok()) return chain.result(result);
    const std::optional<ValueId> scale = along_dims(builder, operands[1], x, dims, "rms_norm", span);
    if (!scale) return std::nullopt;
    return chain.result(chain("mul", {result, *scale}));
}

} // namespace

const CompositeDef& composite_rms_norm() {
    static const CompositeDef def = {
        "rms_norm",
        "x / sqrt(mean of squares + eps) along a dim, or over several, times scale.\n{rms_norm: [x, scale], eps: "
        "1.0e-6}",
        {1, 2},
        {{"eps", AttributeDef::Type::number, false, "1e-6 unless said"},
         {"dim", AttributeDef::Type::dims, false, "the dim, or dims; the last unless said"}},
        build};
    return def;
}

} // namespace shard
