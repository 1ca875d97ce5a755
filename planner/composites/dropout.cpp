#include "planner/graph/chain.h"
#include "planner/graph/step_count.h"
#include "planner/ops_support/drop_key.h"

namespace shard {

namespace {

BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes, Span span) {
    const ValueId x = operands[0];
    if (!require_floating(builder, x, "dropout", 0, span)) return std::nullopt;
    const double rate = attributes.number("rate");
    if (!check_rate(rate, "dropout", span, builder.diagnostics())) return std::nullopt;
    const TensorType type = builder.type(x);
    Chain chain(builder);
    const bool is_active = operands.size() == 2 || builder.random().training;
    // A value of its own, which takes no bytes.
    if (!is_active || rate == 0) return chain.result(chain("reshape", {x}, shape_of(type.shape, type.logical)));

    std::optional<Attributes> key = drop_key(builder, attributes, "dropout", "{dropout: x, rate: 0.1, key: 0}", span);
    if (!key) return std::nullopt;
    Attributes mask = shape_of(type.shape, type.logical);
    mask.set("probability", 1 - rate);
    for (const auto& [name, value] : key->entries()) mask.set(name, value);
    for (const char* name : {"fold", "fold_dim"})
        for (const auto& [key_name, value] : attributes.entries())
            if (key_name == name) mask.set(name, value);
    const ValueId step = operands.size() == 2 ? operands[1] : step_count(builder);
    const ValueId kept = chain("bernoulli", {step}, std::move(mask));
    const ValueId scaled = chain("div", x, 1 - rate);
    const ValueId zero = chain.scalar(0, type.dtype);
    return chain.result(chain("select", {kept, scaled, zero}));
}

} // namespace

const CompositeDef& composite_dropout() {
    static const CompositeDef def = {
        "dropout",
        "In training, 0 at random places and x / (1 - rate) elsewhere, other places in every step; x itself otherwise. "
        "With a step as second operand it drops in every mode.\n"
        "{dropout: x, rate: 0.1}",
        {1, 2},
        {{"rate", AttributeDef::Type::number, true, "how much is dropped, from 0 to below 1"},
         {"key", AttributeDef::Type::integers, false, "a seed or two words; by the model's rng.keys unless said"},
         {"fold", AttributeDef::Type::string, false, "a mesh axis: a key for each device along it"},
         {"fold_dim", AttributeDef::Type::integer, false, "the dim that is split over it, from 0; 0 unless said"}},
        build};
    return def;
}

} // namespace shard
