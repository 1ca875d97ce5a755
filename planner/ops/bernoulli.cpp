#include "planner/ops_support/draw.h"
#include "planner/ops_support/infer.h"

#include <fmt/format.h>

namespace shard {

namespace {

InferResult infer(const InferContext& context) {
    const double probability = context.attributes.number("probability");
    if (!(probability >= 0 && probability <= 1)) {
        context.diagnostics.error("E0226", context.span, fmt::format("{} is no probability", probability))
            .help("a number from 0 to 1");
        return std::nullopt;
    }
    return infer_draw(context, DType::boolean);
}

Kernel lower(const LowerContext& context) {
    Distribution distribution;
    distribution.kind = DistributionKind::bernoulli;
    distribution.probability = context.attributes.number("probability");
    return lower_draw(context, distribution);
}

std::optional<ValueId> expand(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes) {
    return expand_draw(builder, "bernoulli", operands, attributes);
}

} // namespace

const OpDef& op_bernoulli() {
    static const OpDef def = [] {
        OpDef made =
            draw_op("bernoulli",
                    "True with a probability, as jax.random.bernoulli: by a key that is written, into which an integer "
                    "scalar, as a count of steps, is folded first, or by one that is computed.\n"
                    "{bernoulli: [batch, embed], in: step, probability: 0.9, key: 0}",
                    {{"probability", AttributeDef::Type::number, true, "from 0 to 1"}});
        made.infer = infer;
        made.lower = lower;
        made.expand = expand;
        return made;
    }();
    return def;
}

} // namespace shard
