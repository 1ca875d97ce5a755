// Reductions.
#pragma once

#include "exporter/jax/jax_body.h"

namespace shard {

PythonText jax_reduce(const Reduce& kernel, const JaxValue& input);

} // namespace shard
