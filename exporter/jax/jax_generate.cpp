// Values from nothing. Random ones are drawn by their place in the whole array, so that they do not depend on the
// layout (exporter/python/random_values.py).
#include "exporter/jax/jax_generate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace shard {

namespace {

bool begins_at_zero(std::span<const Affine> starts) {
    return std::all_of(starts.begin(), starts.end(),
                       [](const Affine& start) { return start.is_constant() && start.constant == 0; });
}

PythonText starts_tuple(std::span<const Affine> starts, const JaxBody& body) {
    std::vector<PythonText> items;
    for (const Affine& start : starts) items.push_back({body.affine(start)});
    return tuple(std::move(items));
}

PythonText filled(double value, const JaxValue& output) {
    if (value == 0 && !std::signbit(value))
        return bracket("jnp.zeros(", {{shape_tuple(output.shape)}, {jax_dtype(output.dtype)}}, ")");
    return bracket("jnp.full(",
                   {{shape_tuple(output.shape)}, {jax_number(value, output.dtype)}, {jax_dtype(output.dtype)}}, ")");
}

PythonText literal_text(const Literal& literal, const Generate& kernel, const JaxValue& output, JaxBody& body) {
    std::vector<PythonText> numbers;
    for (const Number& number : literal.values) numbers.push_back({jax_number(number, output.dtype)});
    PythonText whole = bracket("jnp.array(", {bracket("[", std::move(numbers), "]"), {jax_dtype(output.dtype)}}, ")");
    if (kernel.shape.size() != 1) whole.closes = fmt::format(").reshape({})", shape_tuple(kernel.shape));
    if (kernel.shape == output.shape) return whole;
    // A slice would begin earlier where it reaches beyond the end, into padding.
    std::vector<PythonText> behind;
    for (const i64 size : output.shape) behind.push_back({fmt::format("(0, {})", size - 1)});
    if (reaches_beyond(kernel, output.shape))
        whole = bracket("jnp.pad(", {{body.part(output, whole)}, bracket("[", std::move(behind), "]")}, ")");
    return bracket("lax.dynamic_slice(",
                   {{body.part(output, whole)}, starts_tuple(kernel.start, body), {shape_tuple(output.shape)}}, ")");
}

PythonText iota_text(const Iota& iota, const Generate& kernel, const JaxValue& output, JaxBody& body) {
    const size_t dim = static_cast<size_t>(iota.dim);
    const PythonText count = bracket(
        "lax.broadcasted_iota(", {{jax_dtype(output.dtype)}, {shape_tuple(output.shape)}, {std::to_string(dim)}}, ")");
    const Affine& start = kernel.start[dim];
    if (start.is_constant() && start.constant == 0) return count;
    const PythonText sum = infix(" + ", {body.part(output, count)}, {body.affine(start)});
    if (output.dtype == DType::i32) return sum;
    return bracket(fmt::format("({}).astype(", flat(sum)), {{jax_dtype(output.dtype)}}, ")");
}

std::string key_text(const Key& key) { return fmt::format("({}, {})", key.k0, key.k1); }

std::string computed_key(const Random& random, const JaxBody& body) {
    std::vector<std::string> words;
    for (const Affine& word : random.words)
        words.push_back(fmt::format("jnp.asarray({}).astype(jnp.uint32)", body.affine(word)));
    return fmt::format("({})", fmt::join(words, ", "));
}

// The bits, or where two draws are needed what makes them.
PythonText random_text(const Random& random, const Generate& kernel, const JaxValue& output, const JaxBody& body) {
    const Distribution& d = random.distribution;
    if (d.kind == DistributionKind::constant) return filled(d.value, output);
    std::vector<PythonText> items = {{key_text(random.key)}, {shape_tuple(kernel.shape)}};
    if (!random.words.empty()) items[0] = {computed_key(random, body)};
    items.push_back(begins_at_zero(kernel.start) ? PythonText{"None"} : starts_tuple(kernel.start, body));
    items.push_back({shape_tuple(output.shape)});
    if (random.layout == BitLayout::legacy) items.push_back({"partitionable=False"});
    if (!random.layers.empty()) {
        std::vector<PythonText> keys;
        for (const Key& key : random.layers) keys.push_back({key_text(key)});
        items.push_back(bracket("layers=[", std::move(keys), "]"));
    }
    if (!random.folds.empty()) {
        std::vector<PythonText> folds;
        for (const Affine& fold : random.folds) folds.push_back({body.affine(fold)});
        items.push_back(bracket("folds=[", std::move(folds), "]"));
    }
    if (!random.blocks.empty()) items.push_back({fmt::format("blocks={}", shape_tuple(random.blocks))});
    if (random.multiplier != 1) items.push_back({fmt::format("multiplier={}", random.multiplier)});
    const auto drawn = [&](std::string_view sampler, std::vector<PythonText> arguments) {
        const std::string_view bits = random.layout == BitLayout::rbg ? "rbg_bits(" : "random_bits(";
        arguments.insert(arguments.begin(), bracket(std::string(bits), std::move(items), ")"));
        return bracket(fmt::format("{}(", sampler), std::move(arguments),
                       fmt::format(").astype({})", jax_dtype(output.dtype)));
    };
    const auto number = [](double value) { return PythonText{jax_number(value, DType::f32)}; };
    const auto scaled = [&](std::vector<PythonText> arguments) {
        arguments.push_back({fmt::format("scale={}", jax_number(d.scale, DType::f32))});
        if (d.offset != 0) arguments.push_back({fmt::format("offset={}", jax_number(d.offset, DType::f32))});
        return arguments;
    };
    switch (d.kind) {
    case DistributionKind::uniform:
        return drawn("uniform", scaled({number(d.low), number(d.high)}));
    case DistributionKind::normal:
        return drawn("normal", scaled({}));
    case DistributionKind::truncated_normal:
        return drawn("truncated_normal", scaled({number(d.low), number(d.high)}));
    case DistributionKind::bernoulli:
        return drawn("bernoulli", {number(d.probability)});
    case DistributionKind::randint:
        items.push_back({"words=2"});
        return drawn("randint", {{jax_number(d.low, DType::f64)}, {jax_number(d.high, DType::f64)}});
    case DistributionKind::bits:
        return drawn("jnp.asarray", {});
    case DistributionKind::constant:
        break;
    }
    internal_error("random values without a form");
}

} // namespace

PythonText jax_generate(const Generate& kernel, const JaxValue& output, JaxBody& body) {
    if (const Fill* fill = std::get_if<Fill>(&kernel.source)) return filled(fill->value, output);
    if (const Literal* literal = std::get_if<Literal>(&kernel.source))
        return literal_text(*literal, kernel, output, body);
    if (const Iota* iota = std::get_if<Iota>(&kernel.source)) return iota_text(*iota, kernel, output, body);
    return random_text(std::get<Random>(kernel.source), kernel, output, body);
}

} // namespace shard
