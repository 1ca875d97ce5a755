#include "planner/ops_support/draw.h"
#include "planner/ops_support/infer.h"

#include <fmt/format.h>

#include <cmath>

namespace shard {

namespace {

InferResult infer(const InferContext& context) {
    const double low = context.attributes.number("low", 0), high = context.attributes.number("high", 1);
    if (!(low < high) || !std::isfinite(static_cast<float>(high) - static_cast<float>(low))) {
        context.diagnostics
            .error("E0226", context.span, fmt::format("'{}' draws nothing from {} to {}", context.op, low, high))
            .help("low below high, and what is between them a number of f32");
        return std::nullopt;
    }
    return infer_draw(context, DType::f32, is_floating, "a floating-point type");
}

Kernel lower(const LowerContext& context) {
    Distribution distribution;
    distribution.kind = DistributionKind::uniform;
    distribution.low = context.attributes.number("low", 0);
    distribution.high = context.attributes.number("high", 1);
    return lower_draw(context, distribution);
}

std::optional<ValueId> expand(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes) {
    return expand_draw(builder, "uniform", operands, attributes);
}

} // namespace

const OpDef& op_uniform() {
    static const OpDef def = [] {
        OpDef made = draw_op("uniform",
                             "Numbers from low to below high, as jax.random.uniform draws them in f32.\n"
                             "{uniform: [batch, embed], in: key, low: -1, high: 1}",
                             {{"low", AttributeDef::Type::number, false, "0 unless said"},
                              {"high", AttributeDef::Type::number, false, "1 unless said"}});
        made.infer = infer;
        made.lower = lower;
        made.expand = expand;
        return made;
    }();
    return def;
}

} // namespace shard
