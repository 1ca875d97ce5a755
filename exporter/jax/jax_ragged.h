// Contractions of rows in groups, as ragged_dot of a device's own rows and groups.
#pragma once

#include "exporter/jax/jax_body.h"

namespace shard {

PythonText jax_ragged(const RaggedContract& kernel, std::span<const JaxValue> inputs, const JaxValue& output,
                      JaxBody& body);

} // namespace shard
