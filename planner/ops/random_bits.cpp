#include "planner/ops_support/draw.h"
#include "planner/ops_support/infer.h"

namespace shard {

namespace {

bool is_u32(DType dtype) { return dtype == DType::u32; }

InferResult infer(const InferContext& context) { return infer_draw(context, DType::u32, is_u32, "u32"); }

Kernel lower(const LowerContext& context) {
    Distribution distribution;
    distribution.kind = DistributionKind::bits;
    return lower_draw(context, distribution);
}

std::optional<ValueId> expand(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes) {
    return expand_draw(builder, "random_bits", operands, attributes);
}

} // namespace

const OpDef& op_random_bits() {
    static const OpDef def = [] {
        OpDef made = draw_op(
            "random_bits", "32 random bits in each element, as jax.random.bits.\n{random_bits: [batch], in: key}", {});
        made.infer = infer;
        made.lower = lower;
        made.expand = expand;
        return made;
    }();
    return def;
}

} // namespace shard
