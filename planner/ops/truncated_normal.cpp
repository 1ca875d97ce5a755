#include "planner/ops_support/draw.h"
#include "planner/ops_support/infer.h"

#include <fmt/format.h>

namespace shard {

namespace {

InferResult infer(const InferContext& context) {
    const double low = context.attributes.number("low"), high = context.attributes.number("high");
    if (!(low < high)) {
        context.diagnostics
            .error("E0226", context.span, fmt::format("'{}' draws nothing from {} to {}", context.op, low, high))
            .help("low below high");
        return std::nullopt;
    }
    return infer_draw(context, DType::f32, is_floating, "a floating-point type");
}

Kernel lower(const LowerContext& context) {
    Distribution distribution;
    distribution.kind = DistributionKind::truncated_normal;
    distribution.low = context.attributes.number("low");
    distribution.high = context.attributes.number("high");
    return lower_draw(context, distribution);
}

std::optional<ValueId> expand(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes) {
    return expand_draw(builder, "truncated_normal", operands, attributes);
}

} // namespace

const OpDef& op_truncated_normal() {
    static const OpDef def = [] {
        OpDef made = draw_op(
            "truncated_normal",
            "Numbers of a normal distribution between low and high, as jax.random.truncated_normal draws them in f32.\n"
            "{truncated_normal: [batch, embed], in: key, low: -2, high: 2}",
            {{"low", AttributeDef::Type::number, true, "the least"},
             {"high", AttributeDef::Type::number, true, "the largest"}});
        made.infer = infer;
        made.lower = lower;
        made.expand = expand;
        return made;
    }();
    return def;
}

} // namespace shard
