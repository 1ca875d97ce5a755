#include "planner/ops_support/draw.h"
#include "planner/ops_support/infer.h"

#include <fmt/format.h>

#include <limits>

namespace shard {

namespace {

bool is_i32(DType dtype) { return dtype == DType::i32; }

InferResult infer(const InferContext& context) {
    const i64 low = context.attributes.integer("low"), high = context.attributes.integer("high");
    constexpr i64 least = std::numeric_limits<std::int32_t>::min(), most = std::numeric_limits<std::int32_t>::max();
    if (low >= high || low < least || high > most + 1) {
        context.diagnostics
            .error("E0226", context.span, fmt::format("'randint' draws no i32 from {} to below {}", low, high))
            .help("low below high, both of 32 bits");
        return std::nullopt;
    }
    if (has_rbg_key(context.operands)) {
        context.diagnostics
            .error("E0226", context.span, "'randint' draws under keys of two words, and this has four, of rbg")
            .help("make whole numbers of random_bits");
        return std::nullopt;
    }
    return infer_draw(context, DType::i32, is_i32, "i32");
}

Kernel lower(const LowerContext& context) {
    Distribution distribution;
    distribution.kind = DistributionKind::randint;
    distribution.low = static_cast<double>(context.attributes.integer("low"));
    distribution.high = static_cast<double>(context.attributes.integer("high"));
    return lower_draw(context, distribution);
}

std::optional<ValueId> expand(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes) {
    return expand_draw(builder, "randint", operands, attributes);
}

} // namespace

const OpDef& op_randint() {
    static const OpDef def = [] {
        OpDef made = draw_op("randint",
                             "Whole numbers from low to below high, as jax.random.randint draws them in i32.\n"
                             "{randint: [batch, length], in: key, low: 0, high: 256}",
                             {{"low", AttributeDef::Type::integer, true, "the least"},
                              {"high", AttributeDef::Type::integer, true, "what none is"}});
        made.infer = infer;
        made.lower = lower;
        made.expand = expand;
        return made;
    }();
    return def;
}

} // namespace shard
