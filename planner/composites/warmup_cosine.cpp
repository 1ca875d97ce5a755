#include "planner/composites_support/warmup.h"

#include <numbers>

namespace shard {

namespace {

// optax.warmup_cosine_decay_schedule: half a cosine.
ValueId fall(Chain& chain, const Fall& way) {
    const double alpha = way.peak == 0 ? 0 : way.end / way.peak;
    const ValueId at = chain.cast(chain("min", way.since, way.steps), DType::f32);
    const ValueId turned = chain("cos", {chain("div", chain("mul", at, std::numbers::pi), way.steps)});
    const ValueId left = chain("mul", chain("add", turned, 1), 0.5);
    return chain("mul", chain("add", chain("mul", left, 1 - alpha), alpha), way.peak);
}

BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes, Span span) {
    return warmed_up(builder, operands[0], attributes, "warmup_cosine", span, fall);
}

} // namespace

const CompositeDef& composite_warmup_cosine() {
    static const CompositeDef def = {
        .name = "warmup_cosine",
        .doc = "A learning rate that rises in a line to its peak and falls along half a cosine, from the count of "
               "steps.\n"
               "{warmup_cosine: count, peak: 1.0e-3, warmup_steps: 100, decay_steps: 1000}",
        .operands = {1, 1},
        .attributes = warmup_attributes(),
        .build = build,
        .is_schedule = true};
    return def;
}

} // namespace shard
