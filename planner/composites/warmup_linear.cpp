#include "planner/composites_support/warmup.h"

namespace shard {

namespace {

// Two of optax.linear_schedule, joined where the warmup ends.
ValueId fall(Chain& chain, const Fall& way) { return line(chain, way.since, way.peak, way.end, way.steps); }

BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes, Span span) {
    return warmed_up(builder, operands[0], attributes, "warmup_linear", span, fall);
}

} // namespace

const CompositeDef& composite_warmup_linear() {
    static const CompositeDef def = {
        .name = "warmup_linear",
        .doc = "A learning rate that rises in a line to its peak and falls in a line, from the count of steps.\n"
               "{warmup_linear: count, peak: 1.0e-3, warmup_steps: 100, decay_steps: 1000}",
        .operands = {1, 1},
        .attributes = warmup_attributes(),
        .build = build,
        .is_schedule = true};
    return def;
}

} // namespace shard
