#include "planner/graph/chain.h"

#include <fmt/format.h>

#include <cmath>

namespace shard {

namespace {

// Frequencies for a context that is longer than the model was trained with. [factor]: all are lower by it, which is as
// if positions were. [factor, low, high, length]: those that turn less than `low` times in `length` positions, those of
// more than `high` stay, and between them it is interpolated, as in Llama 3.1. [factor, first, last]: those up to the
// first of the two indices stay, those from the last on are lower, as in YaRN.
ValueId scaled(Chain& chain, ValueId frequencies, const std::vector<double>& scaling) {
    const double factor = scaling.empty() ? 1 : scaling[0];
    if (factor == 1) return frequencies;
    if (scaling.size() == 1) return chain("mul", frequencies, 1 / factor);
    constexpr double pi = 3.14159265358979323846;
    const double low = scaling[1], high = scaling[2];
    ValueId between = frequencies;
    if (scaling.size() == 4) {
        const ValueId turns = chain("mul", frequencies, scaling[3] / (2 * pi));
        between = chain("mul", chain("add", turns, -low), 1 / (high - low));
    } else {
        const TensorType type = chain.type(frequencies);
        Attributes count = shape_of(type.shape);
        count.set("dtype", std::string(name(type.dtype)));
        between = chain("mul", chain("add", chain("iota", {}, count), -high), 1 / (low - high));
    }
    const ValueId kept = chain("min", chain("max", between, 0), 1);
    return chain("mul", {frequencies, chain("add", chain("mul", kept, 1 - 1 / factor), 1 / factor)});
}

bool is_scaling(const std::vector<double>& scaling) {
    if (scaling.empty()) return true;
    for (const double number : scaling)
        if (!std::isfinite(number)) return false;
    if (scaling[0] <= 0 || scaling.size() == 2 || scaling.size() > 4) return false;
    return scaling.size() == 1 || (scaling[2] > scaling[1] && (scaling.size() == 3 || scaling[3] > 0));
}

// The angles (length, 1, width / 2): position * theta^(-2 i / width). With positions of their own the shape is theirs,
// then (1, width / 2).
ValueId angles(Chain& chain, const TensorType& x, const ValueId* positions, double theta,
               const std::vector<double>& scaling) {
    const i64 half = x.shape[3] / 2;
    const DType dtype = computed_as(x.dtype);
    ValueId at = 0;
    if (positions) {
        const TensorType of_positions = chain.type(*positions);
        Shape shape = of_positions.shape;
        shape.insert(shape.end(), {1, 1});
        const ValueId numbers = chain.cast(*positions, dtype);
        at = chain("reshape", {numbers}, shape_of(shape, of_positions.logical));
    } else {
        Attributes count = shape_of({x.shape[1], 1, 1}, {x.logical[1]});
        count.set("dim", std::vector<i64>{0});
        count.set("dtype", std::string(name(dtype)));
        at = chain("iota", {}, count);
    }
    Attributes count = shape_of({half});
    count.set("dtype", std::string(name(dtype)));
    const double step = -std::log(theta) / static_cast<double>(half);
    const ValueId frequencies = chain("exp", {chain("mul", chain("iota", {}, count), step)});
    return chain("mul", {at, scaled(chain, frequencies, scaling)});
}

BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes, Span span) {
    if (!require_floating(builder, operands[0], "rope", 4, span)) return std::nullopt;
    const TensorType x = builder.type(operands[0]);
    bool fits = x.rank() == 4 && x.shape[3] % 2 == 0;
    if (operands.size() == 2) {
        const TensorType& positions = builder.type(operands[1]);
        fits = fits && (positions.shape == Shape{x.shape[1]} || positions.shape == Shape{x.shape[0], x.shape[1]});
    }
    if (!fits) {
        DiagnosticBuilder error = builder.diagnostics().error(
            "E0223", span, fmt::format("'rope' cannot rotate a value of shape {}", shape_text(x.shape)));
        error.help("it takes (batch, length, heads, head_dim) with an even head_dim, and positions of shape (length,) "
                   "or (batch, length)");
        return std::nullopt;
    }
    const std::vector<double> scaling =
        attributes.has("scaling") ? attributes.numbers("scaling") : std::vector<double>();
    if (!is_scaling(scaling)) {
        builder.diagnostics()
            .error("E0226", span, "'rope' cannot scale its frequencies by that")
            .help("scaling is [factor], [factor, first, last] or [factor, low, high, length] with low below high; "
                  "factor and "
                  "length are positive");
        return std::nullopt;
    }
    const i64 half = x.shape[3] / 2;
    Chain chain(builder);
    const ValueId angle =
        angles(chain, x, operands.size() == 2 ? &operands[1] : nullptr, attributes.number("theta", 10000), scaling);
    ValueId cosine = chain("cos", {angle}), sine = chain("sin", {angle});
    cosine = chain.cast(cosine, x.dtype);
    sine = chain.cast(sine, x.dtype);
    const auto part = [&chain, &operands](i64 start, i64 limit) {
        return chain("slice", {operands[0]},
                     attributes_of({{"dim", std::vector<i64>{3}},
                                    {"start", std::vector<i64>{start}},
                                    {"limit", std::vector<i64>{limit}}}));
    };
    const ValueId first = part(0, half), second = part(half, 2 * half);
    const ValueId left = chain("sub", {chain("mul", {first, cosine}), chain("mul", {second, sine})});
    const ValueId right = chain("add", {chain("mul", {second, cosine}), chain("mul", {first, sine})});
    return chain.result(chain("concatenate", {left, right}, attributes_of({{"dim", std::vector<i64>{3}}})));
}

} // namespace

const CompositeDef& composite_rope() {
    static const CompositeDef def = {
        "rope",
        "Rotary positions: the halves of head_dim turned by position * "
        "theta^(-2i/head_dim), as in Llama.\n{rope: q, theta: 500000}",
        {1, 2},
        {{"theta", AttributeDef::Type::number, false, "10000 unless said"},
         {"scaling", AttributeDef::Type::elements, false,
          "[factor] for positions that are divided by it; [factor, low, high, length] as "
          "in Llama 3.1: frequencies of less than `low` turns in `length` positions are "
          "divided by it, of more than `high` not; [factor, first, last] as in YaRN: from the "
          "last of these two indices on they are, up to the first not"}},
        build};
    return def;
}

} // namespace shard
