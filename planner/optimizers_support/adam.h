// What Adam and its kin share: two running means of each gradient, with optax's arithmetic.
#pragma once

#include "planner/graph/optimizer.h"

namespace shard {

// OptimizerDef::states: mu, the mean gradient, and nu, the mean of its square.
std::vector<OptimizerState> adam_states(const Attributes& attributes, const TensorType& parameter, int stacked);
// 1 - b^step in float32, as optax has it: with exact corrections losses differ in the sixth digit.
ValueId bias_correction(Chain& chain, double b, ValueId step);
// OptimizerDef::shared: the corrections 1 - b1^step and 1 - b2^step, scalars in f32.
std::vector<ValueId> adam_shared(Chain& chain, ValueId step, const Attributes& attributes);
// (1 - b) g + b mean, the latter in the mean's own type, as optax.
ValueId running_mean(Chain& chain, ValueId gradient, ValueId mean, double b);
// value / correction, which is a scalar in f32.
ValueId corrected(Chain& chain, ValueId value, ValueId correction);

// The new states, and the direction of the step: the corrected mean over the root of the corrected mean square.
struct AdamMoments {
    ValueId mu, nu, direction;
};
struct AdamNumbers {
    double b1 = 0.9, b2 = 0.999, eps = 1e-8;
};
AdamNumbers adam_numbers(const Attributes& attributes);
// `corrections` are those of b1 and b2. With a third, that of b1 one step later, the mean looks one step ahead (NAdam).
AdamMoments adam_moments(const UpdateContext& context, const AdamNumbers& numbers,
                         std::span<const ValueId> corrections);

} // namespace shard
