#include "planner/ops_support/draw.h"
#include "planner/ops_support/infer.h"

namespace shard {

namespace {

InferResult infer(const InferContext& context) {
    return infer_draw(context, DType::f32, is_floating, "a floating-point type");
}

Kernel lower(const LowerContext& context) {
    Distribution distribution;
    distribution.kind = DistributionKind::normal;
    return lower_draw(context, distribution);
}

std::optional<ValueId> expand(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes) {
    return expand_draw(builder, "normal", operands, attributes);
}

} // namespace

const OpDef& op_normal() {
    static const OpDef def = [] {
        OpDef made = draw_op("normal",
                             "Numbers of mean 0 and deviation 1, as jax.random.normal draws them in f32.\n{normal: "
                             "[batch, embed], in: key}",
                             {});
        made.infer = infer;
        made.lower = lower;
        made.expand = expand;
        return made;
    }();
    return def;
}

} // namespace shard
