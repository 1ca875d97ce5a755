#include "planner/graph/chain.h"

#include <fmt/format.h>

#include <cmath>

namespace shard {

namespace {

// The angles (length, 1, width / 2): position * theta^(-2 i / width). With positions of their own the shape is theirs,
// then (1, width / 2).
ValueId angles(Chain& chain, const TensorType& x, const ValueId* positions, double theta) {
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
    return chain("mul", {at, frequencies});
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
    const i64 half = x.shape[3] / 2;
    Chain chain(builder);
    const ValueId angle =
        angles(chain, x, operands.size() == 2 ? &operands[1] : nullptr, attributes.number("theta", 10000));
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
    static const CompositeDef def = {"rope",
                                     "Rotary positions: the halves of head_dim turned by position * "
                                     "theta^(-2i/head_dim), as in Llama.\n{rope: q, theta: 500000}",
                                     {1, 2},
                                     {{"theta", AttributeDef::Type::number, false, "10000 unless said"}},
                                     build};
    return def;
}

} // namespace shard
