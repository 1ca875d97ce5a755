// Copies of boxes.
#pragma once

#include "exporter/jax/jax_body.h"

namespace shard {

PythonText jax_move(const Move& kernel, std::span<const JaxValue> inputs, const JaxValue& output, JaxBody& body);

} // namespace shard
