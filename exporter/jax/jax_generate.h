// Values from nothing.
#pragma once

#include "exporter/jax/jax_body.h"

namespace shard {

PythonText jax_generate(const Generate& kernel, const JaxValue& output, JaxBody& body);

} // namespace shard
