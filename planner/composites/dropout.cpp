#include "planner/graph/chain.h"
#include "planner/graph/step_count.h"
#include "plans/base/path_hash.h"

#include <fmt/format.h>

namespace shard {

namespace {

// flax's names of the modules below the top one: repetition 0 of `block` is block_0.
std::vector<std::string> module_path(const std::string& scope) {
    std::vector<std::string> path;
    for (size_t at = 0; at < scope.size();) {
        const size_t end = std::min(scope.find('.', at), scope.size());
        const std::string part = scope.substr(at, end - at);
        if (!path.empty() && part.find_first_not_of("0123456789") == std::string::npos)
            path.back() += "_" + part;
        else
            path.push_back(part);
        at = end + 1;
    }
    return path;
}

// The key's words, and what is folded into it for this place in the model. nullopt after reporting.
std::optional<Attributes> key_of(Builder& builder, const Attributes& attributes, Span span) {
    if (attributes.has("key")) return attributes_of({{"key", attributes.integers("key")}});
    const RandomSource& source = builder.random();
    Attributes made = attributes_of({{"key", std::vector<i64>{source.root.k0, source.root.k1}}});
    const std::string scope = builder.place().scope;
    switch (source.scheme) {
    case KeyScheme::nnx:
        made.set("place", std::vector<i64>{builder.next_random("")});
        return made;
    case KeyScheme::linen: {
        std::vector<std::string> path = module_path(scope);
        path.push_back(fmt::format("Dropout_{}", builder.next_random(scope)));
        made.set("place", std::vector<i64>{path_hash(path, 1)});
        return made;
    }
    case KeyScheme::explicit_keys:
        break;
    }
    builder.diagnostics()
        .error("E0232", span, "'dropout' has no key, and the model says `keys: explicit`")
        .help("write one: {dropout: x, rate: 0.1, key: 0}");
    return std::nullopt;
}

BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes, Span span) {
    const ValueId x = operands[0];
    if (!require_floating(builder, x, "dropout", 0, span)) return std::nullopt;
    const double rate = attributes.number("rate");
    if (!(rate >= 0 && rate < 1)) {
        builder.diagnostics()
            .error("E0226", span, fmt::format("'dropout' cannot drop at the rate {}", rate))
            .help("a number from 0 up to, not including, 1");
        return std::nullopt;
    }
    const TensorType type = builder.type(x);
    Chain chain(builder);
    const bool is_active = operands.size() == 2 || builder.random().training;
    // A value of its own, which takes no bytes.
    if (!is_active || rate == 0) return chain.result(chain("reshape", {x}, shape_of(type.shape, type.logical)));

    std::optional<Attributes> key = key_of(builder, attributes, span);
    if (!key) return std::nullopt;
    Attributes mask = shape_of(type.shape, type.logical);
    mask.set("probability", 1 - rate);
    for (auto& [name, value] : key->entries) mask.set(name, std::move(value));
    mask.set("bits", std::string(bit_layout_name(builder.random().layout)));
    for (const char* name : {"fold", "fold_dim"})
        for (const auto& [key_name, value] : attributes.entries)
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
        {{"rate", AttributeDef::Type::number, true, "how much is dropped, from 0 to 1"},
         {"key", AttributeDef::Type::integers, false, "a seed or two words; by the model's rng.keys unless said"},
         {"fold", AttributeDef::Type::string, false, "a mesh axis: a key for each device along it"},
         {"fold_dim", AttributeDef::Type::integer, false, "the dim that is split over it, from 0; 0 unless said"}},
        build};
    return def;
}

} // namespace shard
