#include "planner/graph/chain.h"
#include "planner/ops_support/equation.h"

#include <fmt/format.h>

namespace shard {

namespace {

// As 8 bits, with the number that they are to be multiplied by: the largest element becomes the largest number of the type
// (current scaling). The maximum is that of the whole value, however it is split.
struct Scaled {
    ValueId bits, scale;
};
Scaled scaled(Chain& chain, ValueId x, DType dtype) {
    constexpr double least = 1e-30; // of zeros alone
    x = chain.cast(x, DType::f32);
    const ValueId largest = chain("max", chain("reduce_max", {chain("abs", {x})}), least);
    const ValueId scale = chain("mul", largest, 1 / info(dtype).largest);
    return {chain.cast(chain("div", {x, scale}), dtype), scale};
}

ValueId product(Chain& chain, std::string equation, const Scaled& a, const Scaled& b, DType dtype) {
    const ValueId sums = chain("einsum", {a.bits, b.bits},
                               attributes_of({{"equation", std::move(equation)}, {"result", std::string("f32")}}));
    return chain.cast(chain("mul", {sums, chain("mul", {a.scale, b.scale})}), dtype);
}

// What `dot` does unless an equation says otherwise.
std::string equation_of(Chain& chain, std::span<const ValueId> operands, const Attributes& attributes) {
    if (attributes.has("equation")) return attributes.string("equation");
    std::string rows;
    for (int d = 0; d + 1 < chain.type(operands[0]).rank(); ++d) rows += static_cast<char>('A' + d);
    return fmt::format("{0}k,kn->{0}n", rows);
}

BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes, Span span) {
    if (!require_floating(builder, operands[0], "fp8_dot", 1, span) ||
        !require_floating(builder, operands[1], "fp8_dot", 1, span))
        return std::nullopt;
    Chain chain(builder);
    const std::string equation = equation_of(chain, operands, attributes);
    std::string problem;
    const std::vector<TensorType> types = {chain.type(operands[0]), chain.type(operands[1])};
    const std::optional<Contraction> made = parse_equation(equation, types, problem);
    if (!made || !is_plain(*made)) {
        builder.diagnostics()
            .error(
                "E0229", span,
                fmt::format("fp8_dot \"{}\": {}", equation, made ? "it sums or repeats within one operand" : problem))
            .help("a product of two operands: {fp8_dot: [x, w], equation: \"bse,ehk->bshk\"}");
        return std::nullopt;
    }
    return chain.result(product(chain, equation, scaled(chain, operands[0], DType::f8e4m3fn),
                                scaled(chain, operands[1], DType::f8e4m3fn), types[0].dtype));
}

// The gradient has a wider range and fewer digits; operands are rounded again as they were.
std::vector<ValueId> gradient(const GradientContext& at) {
    Chain chain(at.builder);
    const std::vector<TensorType> types = {chain.type(at.inputs[0]), chain.type(at.inputs[1])};
    std::string problem;
    const std::optional<Contraction> made =
        parse_equation(equation_of(chain, at.inputs, at.attributes), types, problem);
    internal_check(made.has_value(), "fp8_dot with a wrong equation");
    const std::string &left = made->operands[0], &right = made->operands[1], &result = made->result;
    const Scaled g = scaled(chain, at.cotangent, DType::f8e5m2);
    std::vector<ValueId> gradients(2, -1);
    if (at.wanted[0])
        gradients[0] = product(chain, fmt::format("{},{}->{}", result, right, left), g,
                               scaled(chain, at.inputs[1], DType::f8e4m3fn), types[0].dtype);
    if (at.wanted[1])
        gradients[1] = product(chain, fmt::format("{},{}->{}", left, result, right),
                               scaled(chain, at.inputs[0], DType::f8e4m3fn), g, types[1].dtype);
    internal_check(chain.ok(), "a gradient does not fit");
    return gradients;
}

} // namespace

const CompositeDef& composite_fp8_dot() {
    static const CompositeDef def = {
        "fp8_dot",
        "dot, or the product of an equation, of operands rounded to f8e4m3fn, and of gradients rounded to f8e5m2; each "
        "is "
        "scaled so that its largest element is the type's largest number.\n{fp8_dot: [x, w]}",
        {2, 2},
        {{"equation", AttributeDef::Type::string, false, "as of einsum; that of dot with a matrix unless said"}},
        build,
        gradient};
    return def;
}

} // namespace shard
