#include "planner/graph/chain.h"

#include <fmt/format.h>

#include <numbers>

namespace shard {

namespace {

bool check(Builder& builder, ValueId count, const Attributes& attributes, Span span) {
    const TensorType& type = builder.type(count);
    if (type.rank() != 0 || !is_integer(type.dtype)) {
        builder.diagnostics().error("E0224", span,
                                    fmt::format("'warmup_cosine' follows a count, a whole number, and its operand is "
                                                "{} {}",
                                                name(type.dtype), shape_text(type.shape)));
        return false;
    }
    const i64 warmup = attributes.integer("warmup_steps", 0), decay = attributes.integer("decay_steps");
    if (warmup >= 0 && decay > warmup) return true;
    builder.diagnostics()
        .error("E0226", span, fmt::format("'warmup_cosine' warms up for {} of {} steps", warmup, decay))
        .help("`decay_steps` counts all steps, the warmup included, so it must be more than `warmup_steps`");
    return false;
}

// optax.warmup_cosine_decay_schedule: a line from `start` to `peak`, then half a cosine down to `end`; in float32, with
// the count before the step.
BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes, Span span) {
    const ValueId count = operands[0];
    if (!check(builder, count, attributes, span)) return std::nullopt;
    const double start = attributes.number("start", 0), peak = attributes.number("peak");
    const double end = attributes.number("end", 0);
    const double warmup = static_cast<double>(attributes.integer("warmup_steps", 0));
    const double decay = static_cast<double>(attributes.integer("decay_steps")) - warmup;
    const double alpha = peak == 0 ? 0 : end / peak;
    Chain chain(builder);
    const Attributes to_f32 = attributes_of({{"dtype", std::string("f32")}});
    const auto cosine = [&](ValueId since) {
        const ValueId at = chain("cast", {chain("min", since, decay)}, to_f32);
        const ValueId turned = chain("cos", {chain("div", chain("mul", at, std::numbers::pi), decay)});
        const ValueId fall = chain("mul", chain("add", turned, 1), 0.5);
        return chain("mul", chain("add", chain("mul", fall, 1 - alpha), alpha), peak);
    };
    if (warmup == 0) return chain.result(cosine(count));
    const ValueId since_start = chain("cast", {chain("min", chain("max", count, 0), warmup)}, to_f32);
    const ValueId one = chain.scalar(1, DType::f32);
    const ValueId left = chain("sub", {one, chain("div", since_start, warmup)});
    const ValueId rise = chain("add", chain("mul", left, start - peak), peak);
    return chain.result(chain("select", {chain("lt", count, warmup), rise, cosine(chain("sub", count, warmup))}));
}

} // namespace

const CompositeDef& composite_warmup_cosine() {
    static const CompositeDef def = {
        "warmup_cosine",
        "A learning rate that rises in a line to its peak and falls along half a cosine, from the count of steps.\n"
        "{warmup_cosine: count, peak: 1.0e-3, warmup_steps: 100, decay_steps: 1000}",
        {1, 1},
        {{"peak", AttributeDef::Type::number, true, "the largest rate, after the warmup"},
         {"warmup_steps", AttributeDef::Type::integer, false, "steps up to the peak; 0 unless said"},
         {"decay_steps", AttributeDef::Type::integer, true, "steps in all, the warmup included"},
         {"start", AttributeDef::Type::number, false, "the first rate; 0 unless said"},
         {"end", AttributeDef::Type::number, false, "the last rate; 0 unless said"}},
        build,
        nullptr,
        true};
    return def;
}

} // namespace shard
