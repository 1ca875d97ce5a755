// softmax, log_softmax, logsumexp: with the largest subtracted first, as jax.nn and optax do.
#pragma once

#include "importer/shape/composite.h"

namespace shard {

std::vector<CompositeForm> softmax_forms();

} // namespace shard
