// Contractions as products and einsum.
#pragma once

#include "exporter/jax/jax_body.h"

namespace shard {

PythonText jax_contract(const Contract& kernel, std::span<const JaxValue> inputs, const JaxValue& output);

} // namespace shard
