// Reductions over windows, and where a window's largest element came from.
#pragma once

#include "exporter/jax/jax_body.h"

namespace shard {

PythonText jax_reduce_windows(const ReduceWindows& kernel, const JaxValue& input, const JaxValue& output);
PythonText jax_select_windows(const SelectWindows& kernel, std::span<const JaxValue> inputs, const JaxValue& output);

} // namespace shard
