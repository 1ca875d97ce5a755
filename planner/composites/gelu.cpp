#include "planner/graph/chain.h"

#include <cmath>

namespace shard {

namespace {

BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes, Span span) {
    const ValueId x = operands[0];
    if (!require_floating(builder, x, "gelu", 0, span)) return std::nullopt;
    constexpr double pi = 3.14159265358979323846;
    Chain chain(builder);
    const ValueId half = chain("mul", x, 0.5);
    if (!attributes.flag("approximate", true)) // erfc, as JAX: 1 + erf would lose what is small
        return chain.result(chain("mul", {half, chain("erfc", {chain("mul", chain("neg", {x}), std::sqrt(0.5))})}));
    const ValueId cubic = chain("mul", chain("mul", {chain("mul", {x, x}), x}), 0.044715);
    const ValueId gate = chain("tanh", {chain("mul", chain("add", {x, cubic}), std::sqrt(2 / pi))});
    return chain.result(chain("mul", {half, chain("add", gate, 1)}));
}

} // namespace

const CompositeDef& composite_gelu() {
    static const CompositeDef def = {"gelu",
                                     "x times the normal distribution function of x: by tanh (the default, as in JAX), "
                                     "or exactly, by erfc.\n{gelu: x, approximate: false}",
                                     {1, 1},
                                     {{"approximate", AttributeDef::Type::flag, false, "by tanh; true unless said"}},
                                     build};
    return def;
}

} // namespace shard
