// Pointwise kernels: their instructions as expressions.
#pragma once

#include "exporter/jax/jax_body.h"

namespace shard {

PythonText jax_pointwise(const Pointwise& kernel, std::span<const JaxValue> inputs, const JaxValue& output,
                         JaxBody& body);

} // namespace shard
