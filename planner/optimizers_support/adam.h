// What Adam and its kin share: two running means of each gradient, with optax's arithmetic.
#pragma once

#include "planner/graph/optimizer.h"

namespace shard {

// OptimizerDef::states: mu, the mean gradient, and nu, the mean of its square.
std::vector<std::string_view> adam_states(const Attributes& attributes);
// OptimizerDef::shared: the corrections 1 - b1^step and 1 - b2^step, scalars in f32.
std::vector<ValueId> adam_shared(Chain& chain, ValueId step, const Attributes& attributes);
// The new states, and the direction of the step: the corrected mean over the root of the corrected mean square.
struct AdamMoments {
    ValueId mu, nu, direction;
};
AdamMoments adam_moments(const UpdateContext& context);

} // namespace shard
