// Convolutions, with what the plan says of windows.
#pragma once

#include "exporter/jax/jax_body.h"

namespace shard {

// Groups as in written_convolution.h.
PythonText jax_convolve(const Convolve& kernel, std::span<const JaxValue> inputs, const JaxValue& output);

} // namespace shard
