// What forms of collectives share in Python.
#pragma once

#include "exporter/jax/jax_body.h"

namespace shard {

std::string jax_axes(const JaxBody& body, std::span<const AxisRef> axes); // "model" or ("data", "model")
// A reduction over all devices of a group. Booleans are sent as bytes.
PythonText jax_all_reduce(ReduceOp reduce, std::span<const AxisRef> axes, const JaxValue& input, JaxBody& body);

} // namespace shard
