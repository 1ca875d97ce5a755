#include "planner/composites_support/warmup.h"

#include "planner/model/type_limits.h"

#include <fmt/format.h>

namespace shard {

namespace {

bool check(Builder& builder, ValueId count, const Attributes& attributes, std::string_view composite, Span span) {
    const TensorType& type = builder.type(count);
    if (type.rank() != 0 || !is_integer(type.dtype)) {
        builder.diagnostics()
            .error("E0224", span,
                   fmt::format("'{}' follows a count, a whole number, and its operand is {} {}", composite,
                               name(type.dtype), shape_text(type.shape)))
            .help("a count is one number of type i32, say: {shape: [], dtype: i32}");
        return false;
    }
    const i64 warmup = attributes.integer("warmup_steps", 0), decay = attributes.integer("decay_steps");
    if (!can_hold(type.dtype, static_cast<double>(decay))) {
        builder.diagnostics()
            .error("E0226", span,
                   fmt::format("'{}' takes {} steps, more than its count of type {} can tell", composite, decay,
                               name(type.dtype)))
            .help("write fewer `decay_steps`");
        return false;
    }
    if (warmup >= 0 && decay > warmup) return true;
    builder.diagnostics()
        .error("E0226", span, fmt::format("'{}' warms up for {} of {} steps", composite, warmup, decay))
        .help("`decay_steps` counts all steps, the warmup included, so it must be more than `warmup_steps`");
    return false;
}

} // namespace

std::vector<AttributeDef> warmup_attributes() {
    return {{"peak", AttributeDef::Type::number, true, "the largest rate, after the warmup"},
            {"warmup_steps", AttributeDef::Type::integer, false, "steps up to the peak; 0 unless said"},
            {"decay_steps", AttributeDef::Type::integer, true, "steps in all, the warmup included"},
            {"start", AttributeDef::Type::number, false, "the first rate; 0 unless said"},
            {"end", AttributeDef::Type::number, false, "the last rate; 0 unless said"}};
}

BuiltValues warmed_up(Builder& builder, ValueId count, const Attributes& attributes, std::string_view composite,
                      Span span, ValueId (*fall)(Chain&, const Fall&)) {
    if (!check(builder, count, attributes, composite, span)) return std::nullopt;
    const double start = attributes.number("start", 0), peak = attributes.number("peak");
    const double warmup = static_cast<double>(attributes.integer("warmup_steps", 0));
    const double decay = static_cast<double>(attributes.integer("decay_steps")) - warmup;
    Chain chain(builder);
    const auto fallen = [&](ValueId since) { return fall(chain, {since, peak, attributes.number("end", 0), decay}); };
    if (warmup == 0) return chain.result(fallen(count));
    const ValueId rise = line(chain, count, start, peak, warmup);
    return chain.result(chain("select", {chain("lt", count, warmup), rise, fallen(chain("sub", count, warmup))}));
}

ValueId line(Chain& chain, ValueId count, double from, double to, double steps) {
    const ValueId at = chain.cast(chain("min", chain("max", count, 0), steps), DType::f32);
    const ValueId one = chain.scalar(1, DType::f32);
    const ValueId left = chain("sub", {one, chain("div", at, steps)});
    return chain("add", chain("mul", left, from - to), to);
}

} // namespace shard
