// Lookups in tables, and sums into them.
#pragma once

#include "exporter/jax/jax_body.h"

namespace shard {

PythonText jax_gather(const Gather& kernel, std::span<const JaxValue> inputs, JaxBody& body);
PythonText jax_scatter(const Scatter& kernel, std::span<const JaxValue> inputs, const JaxValue& output, JaxBody& body);

} // namespace shard
