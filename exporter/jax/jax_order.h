// Running reductions and orders.
#pragma once

#include "exporter/jax/jax_body.h"

namespace shard {

PythonText jax_scan(const Scan& kernel, std::span<const JaxValue> inputs);
PythonText jax_sort(const Sort& kernel, std::span<const JaxValue> inputs, const JaxValue& output);

} // namespace shard
