#include "planner/optimizers_support/adam.h"

namespace shard {

namespace {

// 1 - b^step in float32, as optax has it: with exact corrections losses differ in the sixth digit.
ValueId correction(Chain& chain, double b, ValueId step) {
    const ValueId power = chain("pow", {chain.scalar(b, DType::f32), step});
    return chain("sub", {chain.scalar(1, DType::f32), power});
}

} // namespace

std::vector<std::string_view> adam_states(const Attributes&) { return {"mu", "nu"}; }

std::vector<ValueId> adam_shared(Chain& chain, ValueId step, const Attributes& attributes) {
    return {correction(chain, attributes.number("b1", 0.9), step),
            correction(chain, attributes.number("b2", 0.999), step)};
}

AdamMoments adam_moments(const UpdateContext& context) {
    Chain& chain = context.chain;
    const double b1 = context.attributes.number("b1", 0.9), b2 = context.attributes.number("b2", 0.999);
    const ValueId g = context.gradient;
    const DType dtype = chain.type(g).dtype;
    AdamMoments moments{};
    moments.mu = chain("add", {chain("mul", g, 1 - b1), chain("mul", context.states[0], b1)});
    moments.nu = chain("add", {chain("mul", chain("mul", {g, g}), 1 - b2), chain("mul", context.states[1], b2)});
    const ValueId mean = chain("div", {moments.mu, chain.cast(context.shared[0], dtype)});
    const ValueId square = chain("div", {moments.nu, chain.cast(context.shared[1], dtype)});
    const ValueId root = chain("sqrt", {square});
    moments.direction = chain("div", {mean, chain("add", root, context.attributes.number("eps", 1e-8))});
    return moments;
}

} // namespace shard
