#include "planner/ops_support/draw.h"
#include "planner/ops_support/infer.h"

namespace shard {

namespace {

bool is_i32(DType dtype) { return dtype == DType::i32; }

InferResult infer(const InferContext& context) { return infer_draw(context, DType::i32, is_i32, "a whole number"); }

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
