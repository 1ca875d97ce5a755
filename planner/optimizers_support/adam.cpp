#include "planner/optimizers_support/adam.h"

namespace shard {

std::vector<OptimizerState> adam_states(const Attributes& attributes, const TensorType& parameter, int) {
    return {mean_state("mu", attributes, parameter), {"nu", parameter.dtype}};
}

ValueId bias_correction(Chain& chain, double b, ValueId step) {
    const ValueId power = chain("pow", {chain.scalar(b, DType::f32), step});
    return chain("sub", {chain.scalar(1, DType::f32), power});
}

AdamNumbers adam_numbers(const Attributes& attributes) {
    return {attributes.number("b1", 0.9), attributes.number("b2", 0.999), attributes.number("eps", 1e-8)};
}

std::vector<ValueId> adam_shared(Chain& chain, ValueId step, const Attributes& attributes) {
    const AdamNumbers numbers = adam_numbers(attributes);
    return {bias_correction(chain, numbers.b1, step), bias_correction(chain, numbers.b2, step)};
}

ValueId running_mean(Chain& chain, ValueId gradient, ValueId mean, double b) {
    const ValueId kept = chain.cast(chain("mul", mean, b), chain.type(gradient).dtype);
    return chain("add", {chain("mul", gradient, 1 - b), kept});
}

ValueId corrected(Chain& chain, ValueId value, ValueId correction) {
    return chain("div", {value, chain.cast(correction, chain.type(value).dtype)});
}

AdamMoments adam_moments(const UpdateContext& context, const AdamNumbers& numbers,
                         std::span<const ValueId> corrections) {
    Chain& chain = context.chain;
    const ValueId g = context.gradient;
    AdamMoments moments{};
    moments.mu = running_mean(chain, g, context.states[0], numbers.b1);
    moments.nu = running_mean(chain, chain("mul", {g, g}), context.states[1], numbers.b2);
    const ValueId mean = corrections.size() < 3
                             ? corrected(chain, moments.mu, corrections[0])
                             : chain("add", {chain("mul", corrected(chain, moments.mu, corrections[2]), numbers.b1),
                                             chain("mul", corrected(chain, g, corrections[0]), 1 - numbers.b1)});
    const ValueId root = chain("sqrt", {corrected(chain, moments.nu, corrections[1])});
    moments.direction = chain("div", {mean, chain("add", root, numbers.eps)});
    return moments;
}

} // namespace shard
